#!/usr/bin/env bash
# The OpenCL runtime on the GPU of this machine: what calls cost, clients beside each other, the zoo natively and through a
# daemon, the driver's tests. Where there is no clang, CACHE holds the rewritten programs (`wm cl cache CACHE` makes it
# elsewhere). Every step has its own time limit and leaves its results in RESULTS; about five minutes in all.
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
for run in 1 2; do
  for policy in accelos fifo; do
    timeout 20 "$wm" bench calls --device "$device" --policy $policy --cache "$cache" \
      --json "$out/calls-$policy-$run.json" 2>&1 | tee "$out/calls-$policy-$run.txt"
  done
done

share() {  # SECONDS NAME CLIENTS OPTIONS…
  local limit=$1 name=$2 clients=$3
  shift 3
  timeout "$limit" "$wm" bench share --device "$device" --cache "$cache" --clients "$clients" --policy accelos \
    --policy moving_shares:slice=200000 --policy moving_shares:slice=200000:at_once=2 "$@" --json "$out/share-$name.json" > "$out/share-$name.txt" 2>&1
  echo "exit $?"; grep -E 'geometric|^clients|^ +[0-9]' "$out/share-$name.txt"
}
for clients in 2 4 8; do
  step $clients clients beside each other
  share 60 $clients $clients --size large --unchecked --workloads 5 --rounds 3 --policy native
done

step the zoo on the device\'s own driver
timeout 25 "$wm" cl run --device "$device" --size medium --rounds 15 --json "$out/zoo-native.json" > "$out/zoo-native.txt" 2>&1
echo "exit $?"; tail -2 "$out/zoo-native.txt"
for kind in fifo accelos divided; do  # divided: accelos, and nothing is too short for it
  step the zoo through a daemon, $kind
  socket=$(mktemp -u)
  words=(--policy $kind)
  [ $kind = divided ] && words=(--policy accelos --short 0)
  "$wm" serve --device "$device" --socket "$socket" "${words[@]}" --cache "$cache" > "$out/serve-$kind.txt" 2>&1 &
  daemon=$!
  for _ in $(seq 100); do [ -S "$socket" ] && break; sleep 0.1; done
  timeout 25 "$wm" run --socket "$socket" -- "$wm" cl run --size medium --rounds 15 --json "$out/zoo-$kind.json" \
    > "$out/zoo-$kind.txt" 2>&1
  echo "exit $?"; tail -2 "$out/zoo-$kind.txt"
  kill $daemon; wait $daemon
done

for short in 300 1000; do
  step short launches of $short us
  export WARPMUX_SHORT=$short
  share 30 4-short-$short 4 --size large --unchecked --workloads 5 --rounds 3
  share 40 8-short-$short 8 --size large --unchecked --workloads 5 --rounds 3
done
unset WARPMUX_SHORT

step eight clients, outputs checked
share 40 checked 8 --size medium --workloads 2 --rounds 3

# Natively a queue out of order waits there for a command that waits for its user.
step the driver beside the native one
timeout 60 "$build/tests/test_runtime_conformance" --gtest_filter='-Long*:Events.AQueueOutOfOrder*' 2>&1 | cut -c1-400 > "$out/driver-tests.txt"
grep -E 'FAILED|PASSED' "$out/driver-tests.txt"
step end
