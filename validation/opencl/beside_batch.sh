#!/usr/bin/env bash
# A latency-sensitive OpenCL client beside a batch client: natively, through a daemon on NVIDIA's OpenCL, and through a
# daemon on the CUDA driver. Writes one JSON object per run to OUT/beside-batch.jsonl; about two minutes.
#
#   validation/opencl/beside_batch.sh build/device out [SECONDS [SETUPS]]
set -uo pipefail
build=$1 out=$2 seconds=${3:-3} setups=${4:-native opencl cuda-half cuda-half-gates cuda-25-gates cuda-62 cuda-none cuda-fault}
wm=$build/bin/wm pair=$build/validation/pair
export WM_DATA=$PWD
mkdir -p "$out"
result=$out/beside-batch.jsonl
: > "$result"
if ! ls /etc/OpenCL/vendors/*nvidia*.icd >/dev/null 2>&1; then
  export OCL_ICD_FILENAMES=libnvidia-opencl.so.1  # the loader that comes with CUDA takes no folder
fi

note() {  # SETUP WITH JSON
  [ -n "$3" ] && echo "{\"setup\": \"$1\", \"beside\": \"$2\", \"result\": $3}" | tee -a "$result"
}

# isolated_and_beside SETUP KINDS COMMAND…: KINDS of batch to run the latency-sensitive client beside; "-": by itself.
beside() {  # SETUP BATCH LATENCY-COMMAND -- BATCH-COMMAND
  local setup=$1 batch=$2 first=$3 second=$4
  if [ "$batch" = - ]; then
    note "$setup" none "$(timeout 20 $first $pair latency "$seconds" 2>>"$out/errors.txt")"
    return
  fi
  timeout 25 $second $pair "$batch" "$(awk "BEGIN {print $seconds + 2}")" > "$out/batch.json" 2>>"$out/errors.txt" &
  local id=$!
  sleep 1
  note "$setup" "$batch" "$(timeout 20 $first $pair latency "$seconds" 2>>"$out/errors.txt")"
  wait $id
  note "$setup" latency "$(cat "$out/batch.json")"
}

# The limits for lower priorities end a second after the last launch of a higher one.
isolated_batch() {  # SETUP COMMAND
  sleep 1.2
  for kind in compute memory; do
    note "$1" none "$(timeout 20 $2 $pair $kind 2 2>>"$out/errors.txt")"
  done
}

if [[ $setups == native* ]]; then
  beside native - "" ""
  note native none "$(timeout 20 $pair profile 1 2>>"$out/errors.txt")"
  isolated_batch native ""
  beside native compute "" ""
  beside native memory "" ""
fi

daemon() {  # SETUP KINDS OPTIONS…
  local setup=$1 kinds=$2 socket
  [[ " $setups " == *" $setup "* ]] || return
  shift 2
  socket=$(mktemp -u)
  "$wm" serve --device NVIDIA --socket "$socket" "$@" > "$out/serve-$setup.txt" 2>&1 &
  local id=$!
  for _ in $(seq 200); do [ -S "$socket" ] && break; sleep 0.05; done
  local low="$wm run --wait 20 --socket $socket --" high="$wm run --wait 20 --socket $socket --priority 5 --"
  for kind in $kinds; do
    if [ "$kind" = profile ]; then
      note "$setup" none "$(timeout 20 $high $pair profile 1 2>>"$out/errors.txt")"
    elif [ "$kind" = batch ]; then isolated_batch "$setup" "$low"; else beside "$setup" "$kind" "$high" "$low"; fi
  done
  if [ "$setup" = cuda-fault ]; then
    note "$setup" none "$(timeout 20 $low $pair fault 2>>"$out/errors.txt")"
    sleep 1
    kill -0 $id 2>/dev/null && echo "the daemon lives on" || echo "the daemon has ended"
  fi
  timeout 20 "$wm" status --socket "$socket" --json "$out/status-$setup.json" > /dev/null 2>&1
  kill $id 2>/dev/null
  wait $id
}

WARPMUX_BACKEND=opencl daemon opencl "- compute memory" --policy accelos
daemon cuda-half "- profile batch compute memory" --policy accelos
daemon cuda-half-gates "compute memory" --policy accelos --gates
daemon cuda-25-gates "compute memory" --policy accelos --headroom 25 --gates
daemon cuda-62 "compute memory" --policy accelos --headroom 62
daemon cuda-none "compute memory" --policy accelos --headroom 0
daemon cuda-fault "" --policy accelos
