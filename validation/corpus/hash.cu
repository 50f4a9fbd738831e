// Integer arithmetic without much memory: hashes, checksums and random numbers.
__device__ __forceinline__ unsigned rotate(unsigned x, int k) { return (x << k) | (x >> (32 - k)); }

extern "C" __global__ void murmur(unsigned* __restrict__ out, int rounds, unsigned seed) {
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned h = seed ^ id;
  for (int i = 0; i < rounds; ++i) {
    unsigned k = (id + i) * 0xcc9e2d51u;
    k = rotate(k, 15) * 0x1b873593u;
    h = rotate(h ^ k, 13) * 5 + 0xe6546b64u;
  }
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  out[id] = h ^ h >> 16;
}

// The round function of SHA-256 over a schedule kept in registers.
extern "C" __global__ void sha_rounds(const unsigned* __restrict__ in, unsigned* __restrict__ out, int blocks) {
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  unsigned a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a;
  unsigned e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
  for (int block = 0; block < blocks; ++block) {
    unsigned w[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) w[i] = in[(block * 16 + i) * n + id];
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      const unsigned s1 = rotate(e, 26) ^ rotate(e, 21) ^ rotate(e, 7);
      const unsigned t1 = h + s1 + ((e & f) ^ (~e & g)) + w[i & 15] + 0x428a2f98u * (i + 1);
      const unsigned s0 = rotate(a, 30) ^ rotate(a, 19) ^ rotate(a, 10);
      const unsigned t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
      const unsigned x = w[(i + 1) & 15], y = w[(i + 14) & 15];
      w[i & 15] +=
          (rotate(x, 25) ^ rotate(x, 14) ^ x >> 3) + w[(i + 9) & 15] + (rotate(y, 15) ^ rotate(y, 13) ^ y >> 10);
    }
  }
  out[id] = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}

// A table of 256 words in shared memory, looked up by bytes of data.
extern "C" __global__ void crc32(const unsigned* __restrict__ in, unsigned* __restrict__ out, int words) {
  __shared__ unsigned table[256];
  unsigned entry = threadIdx.x;
#pragma unroll
  for (int k = 0; k < 8; ++k) entry = entry & 1 ? entry >> 1 ^ 0xedb88320u : entry >> 1;
  table[threadIdx.x] = entry;
  __syncthreads();
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  unsigned crc = ~0u;
  for (int i = 0; i < words; ++i) {
    unsigned w = in[i * n + id];
#pragma unroll
    for (int b = 0; b < 4; ++b, w >>= 8) crc = crc >> 8 ^ table[(crc ^ w) & 255];
  }
  out[id] = ~crc;
}

extern "C" __global__ void xorshift(unsigned long long* __restrict__ out, int rounds) {
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long s = id * 0x9e3779b97f4a7c15ull + 1, sum = 0;
  for (int i = 0; i < rounds; ++i) {
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    sum += s * 0x2545f4914f6cdd1dull;
  }
  out[id] = sum;
}

// Philox: wide multiplies, as random number libraries use them.
extern "C" __global__ void philox(uint4* __restrict__ out, int count, unsigned key) {
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 sum = make_uint4(0, 0, 0, 0);
  for (int i = 0; i < count; ++i) {
    uint4 c = make_uint4(id, i, 0, 0);
    unsigned k0 = key, k1 = ~key;
#pragma unroll
    for (int r = 0; r < 10; ++r) {
      const unsigned h0 = __umulhi(0xd2511f53u, c.x), l0 = 0xd2511f53u * c.x;
      const unsigned h1 = __umulhi(0xcd9e8d57u, c.z), l1 = 0xcd9e8d57u * c.z;
      c = make_uint4(h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0);
      k0 += 0x9e3779b9u;
      k1 += 0xbb67ae85u;
    }
    sum.x += c.x, sum.y ^= c.y, sum.z += c.z, sum.w ^= c.w;
  }
  out[id] = sum;
}

// Modular powers: division by a variable.
extern "C" __global__ void modular_power(const unsigned* __restrict__ in, unsigned* __restrict__ out,
                                         unsigned exponent) {
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned m = (in[id] & 0xffff) | 1;
  unsigned base = id % m, result = 1;
  for (unsigned e = exponent; e != 0; e >>= 1) {
    if (e & 1) result = result * base % m;
    base = base * base % m;
  }
  out[id] = result;
}
