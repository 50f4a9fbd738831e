#!/usr/bin/env bash
# Two OpenCL batch clients, one bound by arithmetic and one by memory, as workers under several policies: how fast each
# runs by itself and beside the other. Writes one JSON object per run to OUT/policies.jsonl; about 7 s a policy.
#
#   validation/opencl/policies.sh build/device out [SECONDS [POLICIES]]
set -uo pipefail
build=$1 out=$2 seconds=${3:-2} policies=${4:-accelos moving_shares spatial static_smqos smqos:epoch=1000000 spart:epoch=1000000 dss ppq}
wm=$build/bin/wm pair=$build/validation/pair
export WM_DATA=$PWD
mkdir -p "$out"
result=$out/policies.jsonl
: > "$result"
if ! ls /etc/OpenCL/vendors/*nvidia*.icd >/dev/null 2>&1; then
  export OCL_ICD_FILENAMES=libnvidia-opencl.so.1  # the loader that comes with CUDA takes no folder
fi

note() {  # POLICY BESIDE JSON
  echo "{\"policy\": \"$1\", \"beside\": \"$2\", \"result\": ${3:-null}}" | tee -a "$result"
}

for kind in compute memory; do note native none "$(timeout 20 $pair $kind "$seconds" 2>>"$out/errors.txt")"; done
for policy in $policies; do
  socket=$(mktemp -u)
  "$wm" serve --device NVIDIA --socket "$socket" --policy "$policy" > "$out/serve-${policy%%:*}.txt" 2>&1 &
  id=$!
  for _ in $(seq 200); do [ -S "$socket" ] && break; sleep 0.05; done
  run="$wm run --wait 20 --socket $socket --"
  for kind in compute memory; do note "$policy" none "$(timeout 20 $run $pair $kind 1 2>>"$out/errors.txt")"; done
  timeout 20 $run $pair compute "$seconds" > "$out/compute.json" 2>>"$out/errors.txt" &
  first=$!
  timeout 20 $run $pair memory "$seconds" > "$out/memory.json" 2>>"$out/errors.txt"
  wait $first
  note "$policy" memory "$(cat "$out/compute.json")"
  note "$policy" compute "$(cat "$out/memory.json")"
  timeout 20 "$wm" status --socket "$socket" > "$out/status-${policy%%:*}.txt" 2>&1
  kill $id 2>/dev/null
  wait $id
done
