// Smooths an image but not its edges: every pixel becomes the mean of its 7 x 7 neighbours, weighted by how near they
// are in place and in colour. Pixels are RGBA bytes in a word; beyond the border the border pixel repeats.
#define RADIUS 3

static float3 colour(uint pixel) {
  return (float3)((float)(pixel & 255u), (float)((pixel >> 8) & 255u), (float)((pixel >> 16) & 255u)) * (1.0f / 255.0f);
}

__kernel void denoise(__global const uint* restrict image, __global uint* restrict smooth, int width, int height,
                      float by_colour, float by_place) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;
  const float3 centre = colour(image[y * width + x]);
  float3 sum = (float3)(0.0f, 0.0f, 0.0f);
  float weights = 0.0f;
#pragma unroll 1
  for (int dy = -RADIUS; dy <= RADIUS; ++dy) {
    const int row = clamp(y + dy, 0, height - 1) * width;
#pragma unroll 1
    for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
      const float3 near = colour(image[row + clamp(x + dx, 0, width - 1)]);
      const float3 apart = near - centre;
      const float difference = apart.x * apart.x + apart.y * apart.y + apart.z * apart.z;
      const float weight = native_exp(-(difference * by_colour + (float)(dx * dx + dy * dy) * by_place));
      sum += near * weight;
      weights += weight;
    }
  }
  const float scale = native_divide(255.0f, weights);
  const uint red = (uint)(sum.x * scale + 0.5f);
  const uint green = (uint)(sum.y * scale + 0.5f);
  const uint blue = (uint)(sum.z * scale + 0.5f);
  smooth[y * width + x] = red | green << 8 | blue << 16 | 255u << 24;
}
