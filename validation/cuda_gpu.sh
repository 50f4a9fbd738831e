#!/usr/bin/env bash
# All measurements of `wm serve --cuda` on a GPU that the documents state: unmodified programs beside each other
# (cuda_real/run.sh, the setups that users choose from) and SMQoS's tasks (cuda_qos/run.py). Writes OUT/cuda-real.json
# and OUT/cuda-qos.json.
#
#   validation/cuda_gpu.sh build/device OUT
set -euo pipefail
build=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
"$here/cuda_real/run.sh" "$build" "$out" 1.5 "native mps default loss opencl calls torch torchpair green"
"${PYTHON:-python3}" "$here/cuda_qos/run.py" --build "$build" --out "$out"
echo "cuda_gpu.sh: $SECONDS seconds"
