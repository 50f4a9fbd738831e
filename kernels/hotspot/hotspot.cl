// Heat on a chip: explicit steps of the heat equation on a square grid of cells, power as the source, cooling to the
// ambient. A block loads a 16 x 16 tile, takes `steps` steps in shared memory and writes what is still exact: the tile
// less `steps` cells on every side that is not the chip's edge. Beyond the edge a cell sees itself.
#define TILE 16

__kernel void hotspot(__global const float* restrict power, __global const float* restrict before,
                      __global float* restrict after, int cells, int steps, float step_time, float capacity,
                      float resist_x, float resist_y, float resist_z, float ambient) {
  __local float now[TILE][TILE];
  __local float next[TILE][TILE];
  __local float heat[TILE][TILE];
  const int tx = get_local_id(0);
  const int ty = get_local_id(1);
  const int kept = TILE - 2 * steps;
  const int left = (int)get_group_id(0) * kept - steps;
  const int top = (int)get_group_id(1) * kept - steps;
  const int x = left + tx;
  const int y = top + ty;
  const bool on_chip = x >= 0 && x < cells && y >= 0 && y < cells;
  const int cell = y * cells + x;
  const float per_capacity = native_divide(step_time, capacity);
  const float to_x = native_recip(resist_x);
  const float to_y = native_recip(resist_y);
  const float to_ambient = native_recip(resist_z);
  if (on_chip) {
    now[ty][tx] = before[cell];
    heat[ty][tx] = power[cell];
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  // Neighbours inside both the tile and the chip.
  const int west = max(max(tx - 1, -left), 0);
  const int east = min(min(tx + 1, cells - 1 - left), TILE - 1);
  const int north = max(max(ty - 1, -top), 0);
  const int south = min(min(ty + 1, cells - 1 - top), TILE - 1);

  bool mine = false;
  for (int step = 0; step < steps; ++step) {
    mine = on_chip && tx >= step + 1 && tx <= TILE - 2 - step && ty >= step + 1 && ty <= TILE - 2 - step;
    if (mine) {
      const float t = now[ty][tx];
      const float from_y = (now[south][tx] + now[north][tx] - 2.0f * t) * to_y;
      const float from_x = (now[ty][east] + now[ty][west] - 2.0f * t) * to_x;
      next[ty][tx] = t + per_capacity * (heat[ty][tx] + from_y + from_x + (ambient - t) * to_ambient);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (step == steps - 1) break;
    if (mine) now[ty][tx] = next[ty][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (mine) after[cell] = next[ty][tx];
}
