#!/usr/bin/env bash
# Applications of the zoo in two and four processes on a real GPU, in the driver's time slices and under MPS: the measured side of
# turnaround.py. Records the blocks of each application first.
#
#   validation/block/turnaround.sh build/device OUT [SECONDS]     writes OUT/turnaround.csv and OUT/recorded/; about two minutes
set -uo pipefail
wm=$1/bin/wm out=$2 seconds=${3:-2}
applications="sgemm lbm stencil spmv histo tpacf"
sets="sgemm,lbm sgemm,stencil lbm,tpacf stencil,spmv histo,sgemm tpacf,histo sgemm,lbm,stencil,tpacf sgemm,histo,spmv,lbm stencil,tpacf,histo,spmv"
mkdir -p "$out/recorded"
"$wm" record $applications --size large --launches 2 --out "$out/recorded" > "$out/record.txt" || exit 1
echo "# $(date -u +%F); $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader); validation/block/turnaround.sh, $seconds s each" > "$out/turnaround.csv"
echo "sharing,processes,application,runs,measured_us" >> "$out/turnaround.csv"
row() {  # SHARING SET FILE
  python3 - "$@" >> "$out/turnaround.csv" <<'PYTHON'
import json, sys
item = json.load(open(sys.argv[3]))["items"][0]
print(sys.argv[1], sys.argv[2], item["application"], item["runs"], f'{item["mean_us"]:.1f}', sep=",")
PYTHON
}
together() {  # SHARING SET
  local begin ids=() name n=0
  begin=$(awk -v now="$(date +%s.%N)" 'BEGIN {printf "%.3f", now + 2.5}')
  for name in ${2//,/ }; do
    "$wm" record "$name" --size large --repeat "$seconds" --begin "$begin" --json "$out/run$n.json" > /dev/null &
    ids+=($!)
    n=$((n + 1))
  done
  wait "${ids[@]}"
  for ((n = 0; n < ${#ids[@]}; ++n)); do row "$1" "${2//,/+}" "$out/run$n.json"; done
}
for name in $applications; do together isolated "$name"; done
for set in $sets; do together time_slice "$set"; done
export CUDA_MPS_PIPE_DIRECTORY=$out/mps CUDA_MPS_LOG_DIRECTORY=$out/mps
mkdir -p "$out/mps"
nvidia-cuda-mps-control -d
for set in $sets; do together mps "$set"; done
echo quit | nvidia-cuda-mps-control
rm -rf "$out/mps" "$out"/run*.json
