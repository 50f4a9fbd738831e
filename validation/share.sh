#!/usr/bin/env bash
# The OpenCL runtime on the GPU of this machine: what calls cost, clients beside each other, the zoo natively and through a
# daemon, the driver's tests. Where there is no clang, CACHE holds the rewritten programs (`wm cl cache CACHE` makes it
# elsewhere). Every step has its own time limit and leaves its results in RESULTS; about seven minutes in all.
#
#   validation/share.sh build/device build/cl-cache results [DEVICE]
set -uo pipefail
build=$1 cache=$2 out=$3 device=${4:-NVIDIA}
wm=$build/bin/wm
export WM_DATA=$PWD
mkdir -p "$out"

# NVIDIA's driver comes without a file for the loader where only its libraries were put in.
if [ "$device" = NVIDIA ] && ! ls /etc/OpenCL/vendors/*nvidia*.icd >/dev/null 2>&1; then
  vendors=$(mktemp -d)
  echo libnvidia-opencl.so.1 > "$vendors/nvidia.icd"
  export OCL_ICD_VENDORS=$vendors OCL_ICD_FILENAMES=libnvidia-opencl.so.1  # CUDA's loader takes no folder
fi

step() { echo "== $* (at $SECONDS s)"; }

step what calls cost
for policy in accelos fifo; do
  timeout 40 "$wm" bench calls --device "$device" --policy $policy --cache "$cache" --json "$out/calls-$policy.json" 2>&1 \
    | tee "$out/calls-$policy.txt"
done

for clients in 2 8 4; do
  step $clients clients beside each other
  timeout 75 "$wm" bench share --device "$device" --size large --unchecked --clients $clients --workloads 4 --rounds 5 \
    --cache "$cache" --policy accelos --policy moving_shares:slice=200000 --policy elastic_kernels --policy native \
    --json "$out/share-$clients.json" > "$out/share-$clients.txt" 2>&1
  echo "exit $?"; tail -7 "$out/share-$clients.txt"
done

step the zoo on the device\'s own driver
timeout 60 "$wm" cl run --device "$device" --size medium --rounds 20 --json "$out/zoo-native.json" > "$out/zoo-native.txt" 2>&1
echo "exit $?"; tail -2 "$out/zoo-native.txt"
for policy in fifo accelos; do
  step the zoo through a daemon, $policy
  socket=$(mktemp -u)
  "$wm" serve --device "$device" --socket "$socket" --policy $policy --cache "$cache" > "$out/serve-$policy.txt" 2>&1 &
  daemon=$!
  for _ in $(seq 100); do [ -S "$socket" ] && break; sleep 0.1; done
  timeout 60 "$wm" run --socket "$socket" -- "$wm" cl run --size medium --rounds 20 --json "$out/zoo-$policy.json" \
    > "$out/zoo-$policy.txt" 2>&1
  echo "exit $?"; tail -2 "$out/zoo-$policy.txt"
  kill $daemon; wait $daemon
done

step two clients, outputs checked
timeout 60 "$wm" bench share --device "$device" --size medium --clients 2 --workloads 3 --rounds 5 --cache "$cache" \
  --policy accelos --policy moving_shares:slice=200000 --json "$out/share-checked.json" > "$out/share-checked.txt" 2>&1
echo "exit $?"; tail -5 "$out/share-checked.txt"

# Natively a queue out of order waits there for a command that waits for its user.
step the driver beside the native one
timeout 60 "$build/tests/test_runtime_device" --gtest_filter='-Long*:Events.AQueueOutOfOrder*' 2>&1 | cut -c1-400 > "$out/driver-tests.txt"
grep -E 'FAILED|PASSED' "$out/driver-tests.txt"
step end
