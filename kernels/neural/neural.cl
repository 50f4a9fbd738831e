// A convolutional network that reads digits, layer by layer: a 29 x 29 image, 6 maps of 13 x 13, 16 maps of 5 x 5, 84
// and 10 neurons. A neuron is the scaled tanh of its bias and weighted inputs; a neuron's weights follow its bias.
#define IMAGE 29
#define MAPS1 6
#define SIDE1 13
#define MAPS2 16
#define SIDE2 5
#define NEURONS3 84
#define NEURONS4 10
#define WINDOW 5

static float activate(float x) { return 1.7159f * tanh(0.66666667f * x); }

// A block of 13 x 13 threads makes one map of one image: group (map, image). Every thread walks a 5 x 5 window, two
// pixels from its neighbour's, and all of them the map's weights; what the windows share lives in L1.
__kernel void neural_1(__global const float* restrict images, __global const float* restrict weights,
                       __global float* restrict maps) {
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int map = get_group_id(0);
  const int image = get_group_id(1);
  __global const float* weight = weights + map * (WINDOW * WINDOW + 1);
  __global const float* pixel = images + image * (IMAGE * IMAGE) + 2 * y * IMAGE + 2 * x;
  float sum = weight[0];
#pragma unroll 1
  for (int i = 0; i < WINDOW; ++i)
#pragma unroll
    for (int j = 0; j < WINDOW; ++j) sum += weight[1 + i * WINDOW + j] * pixel[i * IMAGE + j];
  maps[((image * MAPS1 + map) * SIDE1 + y) * SIDE1 + x] = activate(sum);
}

// A block of 5 x 5 x 16 threads makes all second-layer maps of one image, each from every first-layer map.
__kernel void neural_2(__global const float* restrict maps, __global const float* restrict weights,
                       __global float* restrict features) {
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int map = get_local_id(2);
  const int image = get_group_id(0);
  __global const float* weight = weights + map * (MAPS1 * WINDOW * WINDOW + 1);
  __global const float* input = maps + image * (MAPS1 * SIDE1 * SIDE1) + 2 * y * SIDE1 + 2 * x;
  float sum = weight[0];
#pragma unroll 1
  for (int from = 0; from < MAPS1; ++from) {
#pragma unroll
    for (int i = 0; i < WINDOW; ++i)
#pragma unroll
      for (int j = 0; j < WINDOW; ++j)
        sum += weight[1 + from * (WINDOW * WINDOW) + i * WINDOW + j] * input[from * (SIDE1 * SIDE1) + i * SIDE1 + j];
  }
  features[((image * MAPS2 + map) * SIDE2 + y) * SIDE2 + x] = activate(sum);
}

// Fully connected: a block an image, a thread a neuron. The weights are transposed so that neighbours read neighbours.
static float neuron(__global const float* restrict inputs, __global const float* restrict weights, int count,
                    int neurons, int mine) {
  float sum = weights[mine];
#pragma unroll 4
  for (int i = 0; i < count; ++i) sum += weights[(i + 1) * neurons + mine] * inputs[i];
  return activate(sum);
}

__kernel void neural_3(__global const float* restrict features, __global const float* restrict weights,
                       __global float* restrict hidden) {
  const int mine = get_local_id(0);
  const int image = get_group_id(0);
  hidden[image * NEURONS3 + mine] =
      neuron(features + image * (MAPS2 * SIDE2 * SIDE2), weights, MAPS2 * SIDE2 * SIDE2, NEURONS3, mine);
}

__kernel void neural_4(__global const float* restrict hidden, __global const float* restrict weights,
                       __global float* restrict digits) {
  const int mine = get_local_id(0);
  const int image = get_group_id(0);
  digits[image * NEURONS4 + mine] = neuron(hidden + image * NEURONS3, weights, NEURONS3, NEURONS4, mine);
}
