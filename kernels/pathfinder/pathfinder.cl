// The cheapest way down a grid of costs, a step straight or diagonal per row. A block takes `rows` rows in shared
// memory before it writes: every row makes one column on either side stale, so the blocks overlap by 2 * rows columns.
#define BLOCK 256

__kernel void pathfinder(__global const int* restrict cost, __global const int* restrict before,
                         __global int* restrict after, int columns, int first_row, int rows) {
  __local int now[BLOCK];
  __local int next[BLOCK];
  const int thread = get_local_id(0);
  const int kept = BLOCK - 2 * rows;
  const int left = (int)get_group_id(0) * kept - rows;
  const int column = left + thread;
  const bool on_grid = column >= 0 && column < columns;
  if (on_grid) now[thread] = before[column];
  barrier(CLK_LOCAL_MEM_FENCE);

  const int west = max(max(thread - 1, -left), 0);
  const int east = min(min(thread + 1, columns - 1 - left), BLOCK - 1);
  bool mine = false;
  for (int row = 0; row < rows; ++row) {
    mine = on_grid && thread >= row + 1 && thread <= BLOCK - 2 - row;
    if (mine) {
      const int cheapest = min(now[thread], min(now[west], now[east]));
      next[thread] = cheapest + cost[(first_row + row) * columns + column];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row == rows - 1) break;
    if (mine) now[thread] = next[thread];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (mine) after[column] = next[thread];
}
