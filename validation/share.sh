#!/usr/bin/env bash
# The OpenCL runtime on the GPU of this machine: the zoo natively and through a daemon, what calls cost, and clients beside
# each other. Where there is no clang, CACHE holds the rewritten programs (`wm cl cache CACHE` makes it elsewhere).
#
#   validation/share.sh build/device build/cl-cache results [ROUNDS]
set -uo pipefail
build=$1 cache=$2 out=$3 rounds=${4:-5}
wm=$build/bin/wm
export WM_DATA=$PWD
mkdir -p "$out"

# NVIDIA's driver comes without a file for the loader where only its libraries were put in.
if [ -z "${OCL_ICD_VENDORS:-}" ] && ! ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1; then
  export OCL_ICD_VENDORS=$(mktemp -d)
  echo libnvidia-opencl.so.1 > "$OCL_ICD_VENDORS/nvidia.icd"
  export OCL_ICD_FILENAMES=${OCL_ICD_FILENAMES:-libnvidia-opencl.so.1}  # CUDA's loader takes no folder
fi

step() { echo "== $*"; }
step the zoo on the device\'s own driver
timeout 120 "$wm" cl run --size large --rounds 3 --json "$out/zoo-native.json" > "$out/zoo-native.txt" 2>&1
echo "exit $?"; tail -3 "$out/zoo-native.txt"

for policy in fifo accelos; do
  step the zoo through a daemon, $policy
  socket=$(mktemp -u)
  "$wm" serve --socket "$socket" --policy $policy --cache "$cache" > "$out/serve-$policy.txt" 2>&1 &
  daemon=$!
  for _ in $(seq 100); do [ -S "$socket" ] && break; sleep 0.1; done
  sleep 2
  timeout 180 "$wm" run --socket "$socket" -- "$wm" cl run --size large --rounds 3 --json "$out/zoo-$policy.json" \
    > "$out/zoo-$policy.txt" 2>&1
  echo "exit $?"; tail -3 "$out/zoo-$policy.txt"
  kill $daemon; wait $daemon
done

step what calls cost
for policy in fifo accelos; do
  timeout 120 "$wm" bench calls --policy $policy --cache "$cache" --json "$out/calls-$policy.json" 2>&1 | tee "$out/calls-$policy.txt"
done

step clients beside each other
timeout 400 "$wm" bench share --size large --rounds "$rounds" --workloads 8 --cache "$cache" \
  --policy native --policy elastic_kernels --policy accelos --policy moving_shares:slice=200000 \
  --json "$out/share.json" 2>&1 | tee "$out/share.txt"

step the driver beside the native one
timeout 150 "$build/tests/test_runtime_device" --gtest_filter='-Long*' > "$out/driver-tests.txt" 2>&1
echo "exit $?"; tail -12 "$out/driver-tests.txt"
