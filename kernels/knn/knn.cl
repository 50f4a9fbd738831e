// Distance of every record to one place; the host then picks the nearest. One square root between three memory words.
__kernel void knn(__global const float2* restrict places, __global float* restrict distance, uint records,
                  float latitude, float longitude) {
  const uint i = get_global_id(0);
  if (i >= records) return;
  const float2 place = places[i];
  const float north = place.x - latitude;
  const float east = place.y - longitude;
  distance[i] = sqrt(north * north + east * east);
}
