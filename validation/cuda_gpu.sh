#!/usr/bin/env bash
# All measurements of `wm serve --cuda` on a GPU that the documents state: unmodified programs beside each other
# (cuda_real/run.sh, the setups that users choose from) and SMQoS's tasks (cuda_qos/run.py). Writes OUT/cuda-real.json
# and OUT/cuda-qos.json. Times are chosen for ten minutes in all; REPEATS and TORCH_READY change the first part.
#
#   validation/cuda_gpu.sh build/device OUT
set -euo pipefail
build=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
REPEATS=${REPEATS:-1} TORCH_READY=${TORCH_READY:-12} \
  "$here/cuda_real/run.sh" "$build" "$out" 1.5 "native mps default gates loss opencl calls torch torchpair green"
echo "cuda_real: $SECONDS seconds"
"${PYTHON:-python3}" "$here/cuda_qos/run.py" --build "$build" --out "$out" --seconds 0.25 --dynamic-seconds 0.7 \
  --dynamic-settle 0.35 --parts single,forms,mps,workers,relaunch,static,dynamic,three,logs
echo "cuda_gpu.sh: $SECONDS seconds"
