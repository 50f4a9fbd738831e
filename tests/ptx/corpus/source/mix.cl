void bar0(void) __asm("llvm.nvvm.barrier0");
int get_id(void) {
  return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
}
__constant float c[4] = {1, 2, 3, 4};
float __attribute__((noinline)) hlp(float a, float4 b) { return a * b.x + b.y / b.z; }
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(__global float *x, __local float *l, int n, float4 q,
                                                                __constant int *cc) {
  __local int tmp[64];
  int i = get_id();
  tmp[i & 63] = n;
  bar0();
  x[i] += c[i & 3] * l[i] + q.x + tmp[(i + 1) & 63] + cc[3];
  int arr[16];
  for (int j = 0; j < n; j++) arr[j & 15] = x[j];
  switch (n & 15) {
    case 0:
      x[i] += 1;
      break;
    case 1:
      x[i] = 7;
      break;
    case 2:
      l[i] = 5;
      break;
    case 3:
      x[i] = x[i] / 3;
      break;
    case 4:
      x[n] = 1;
      break;
    case 5:
      x[n + 1] = 4;
      break;
    case 6:
      l[3] = hlp(x[2], q);
  }
  __nvvm_atom_add_gen_i((int *)(__generic int *)(__global int *)x, 3);
  x[i] += arr[n];
}
