// One level of a breadth-first search: one thread a node, every node of the frontier visits its neighbours.

#define UNVISITED 0xffffffffU

// nodes[i] = (first edge, degree). Several threads may reach a node in the same level; all write the same value.
__kernel void bfs(__global const uint2* restrict nodes, __global const uint* restrict edges, __global uint* level,
                  uint count, uint current) {
  const uint i = get_global_id(0);
  if (i >= count || level[i] != current) return;
  const uint2 node = nodes[i];
  for (uint e = node.x; e < node.x + node.y; ++e) {
    const uint neighbour = edges[e];
    if (level[neighbour] == UNVISITED) level[neighbour] = current + 1;
  }
}
