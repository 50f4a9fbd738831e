// mri-q with its samples in constant memory, as in Parboil. Q of non-Cartesian MRI reconstruction: at every voxel, the
// sum over k-space samples of |phi|^2 e^(2 pi i k.x).

// samples[i] = (kx, ky, kz, |phi|^2); the first three are the host's.
__kernel void mri_q_constant_phimag(__global const float* restrict phi_re, __global const float* restrict phi_im,
                                    __global float* restrict samples, uint count) {
  const uint i = get_global_id(0);
  if (i >= count) return;
  samples[4 * i + 3] = phi_re[i] * phi_re[i] + phi_im[i] * phi_im[i];
}

// Adds samples [first, last) to every voxel's Q. All threads read the same sample at the same time: a launch reads 16 KB
// at the large size, of the 64 KB that constant memory has.
__kernel void mri_q_constant_q(__constant float4* restrict samples, uint first, uint last,
                               __global const float* restrict x, __global const float* restrict y,
                               __global const float* restrict z, __global float* restrict q_re,
                               __global float* restrict q_im) {
  const uint i = get_global_id(0);
  const float vx = x[i], vy = y[i], vz = z[i];
  float re = q_re[i], im = q_im[i];
#pragma unroll 4
  for (uint k = first; k < last; ++k) {
    const float4 s = samples[k];
    const float turns = s.x * vx + s.y * vy + s.z * vz;
    const float angle = 6.28318531f * (turns - rint(turns));  // within the fast functions' range
    re += s.w * native_cos(angle);
    im += s.w * native_sin(angle);
  }
  q_re[i] = re;
  q_im[i] = im;
}
