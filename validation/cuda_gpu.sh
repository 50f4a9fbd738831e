#!/usr/bin/env bash
# All measurements of `wm serve --cuda` on a GPU that the documents state, in less than ten minutes: unmodified programs
# beside each other (cuda_real/run.sh, the setups that users choose from) and SMQoS's tasks (cuda_qos/run.py). Writes
# OUT/cuda-real.json, OUT/cuda-qos.json and the decisions of two policies. REPEATS changes the first part.
#
#   validation/cuda_gpu.sh build/device OUT
set -euo pipefail
build=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
stubs=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")/lib64/stubs
compile() {  # SOURCE STANDARD
  nvcc -O2 -std="$2" -arch=sm_90 "$here/$1" -o "$out/$(basename "$1" .cu)" -L"$stubs" -lcuda
}
# The programs are compiled at the same time.
compile cuda_real/pair.cu c++17 & pair=$!
compile cuda_real/green.cu c++17 & green=$!
compile cuda_qos/tasks.cu c++20 & tasks=$!
g++ -O2 -std=c++17 "$here/cuda_real/opencl_pair.cc" -o "$out/opencl_pair" -lOpenCL
for id in $pair $green $tasks; do wait "$id"; done
echo "cuda_gpu.sh: compiled after $SECONDS seconds"
REPEATS=${REPEATS:-2} PAIR=$out/pair OPENCL_PAIR=$out/opencl_pair GREEN=$out/green \
  "$here/cuda_real/run.sh" "$build" "$out" 1.5 "torch torchpair native mps default gates loss opencl calls green"
echo "cuda_gpu.sh: cuda_real after $SECONDS seconds"
"${PYTHON:-python3}" "$here/cuda_qos/run.py" --build "$build" --out "$out" --program "$out/tasks" --seconds 0.2 \
  --dynamic-seconds 0.6 --dynamic-settle 0.3 --parts single,forms,mps,workers,relaunch,static,dynamic,logs
echo "cuda_gpu.sh: $SECONDS seconds in all"
