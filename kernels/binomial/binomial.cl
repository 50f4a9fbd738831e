// A European call by backward induction on a binomial tree, one option a block. A thread keeps four neighbouring nodes
// of the tree's current level in registers; only the node above its own comes from the next thread, through shared
// memory, two rows taking turns so that one barrier a level is enough.
#define BLOCK 256
#define EACH 4
#define LEVELS (BLOCK * EACH)

typedef struct {
  float price;
  float strike;
  float step;      // the logarithm of one move up
  float up, down;  // discounted probabilities
} Option;

__kernel void binomial(__global const Option* restrict options, __global float* restrict call) {
  __local float first[2][BLOCK + 1];
  const int thread = get_local_id(0);
  const Option option = options[get_group_id(0)];

  // The last level has LEVELS + 1 nodes: node j is worth max(S e^(step (2j - LEVELS)) - X, 0), and the last belongs to
  // the thread after the last.
  float node[EACH];
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    const float moves = (float)(2 * (thread * EACH + k) - LEVELS);
    node[k] = fmax(option.price * exp(option.step * moves) - option.strike, 0.0f);
  }
  if (thread == 0) {
    const float top = fmax(option.price * exp(option.step * (float)LEVELS) - option.strike, 0.0f);
    first[0][BLOCK] = top;
    first[1][BLOCK] = top;
  }

  // Level `level` has nodes 0 .. level; a thread whose nodes all lie above it has nothing left to do but wait.
#pragma unroll 1
  for (int level = LEVELS - 1; level >= 0; --level) {
    first[level & 1][thread] = node[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (thread * EACH <= level) {
#pragma unroll
      for (int k = 0; k < EACH - 1; ++k) node[k] = option.up * node[k + 1] + option.down * node[k];
      node[EACH - 1] = option.up * first[level & 1][thread + 1] + option.down * node[EACH - 1];
    }
  }
  if (thread == 0) call[get_group_id(0)] = node[0];
}

#define SHALLOW 128

// The same for a tree of SHALLOW levels and as many threads, one node each.
__kernel void binomial_shallow(__global const Option* restrict options, __global float* restrict call) {
  __local float row[2][SHALLOW + 1];
  const int thread = get_local_id(0);
  const Option option = options[get_group_id(0)];
  float node = fmax(option.price * exp(option.step * (float)(2 * thread - SHALLOW)) - option.strike, 0.0f);
  if (thread == 0) {
    const float top = fmax(option.price * exp(option.step * (float)SHALLOW) - option.strike, 0.0f);
    row[0][SHALLOW] = top;
    row[1][SHALLOW] = top;
  }
#pragma unroll 1
  for (int level = SHALLOW - 1; level >= 0; --level) {
    row[level & 1][thread] = node;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (thread <= level) node = option.up * row[level & 1][thread + 1] + option.down * node;
  }
  if (thread == 0) call[get_group_id(0)] = node;
}
