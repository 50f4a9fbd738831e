#!/usr/bin/env bash
# Unmodified CUDA programs on a real GPU, by themselves and beside each other: in the driver's own time slices, through
# MPS, and under `wm serve --cuda`. Writes OUT/cuda-real.json; about five minutes.
#
#   validation/cuda_real/run.sh build/device out [SECONDS [PARTS]]
#
# PARTS: any of single native mps limits slices goal calls torch. PAIR names another program with the arguments of
# pair.cu, for machines without nvcc (with the simulated driver: WARPMUX_LIBCUDA and LD_LIBRARY_PATH name it).
set -uo pipefail
build=$1 out=$2 seconds=${3:-2} parts=${4:-single native mps limits slices goal calls torch}
here=$(cd "$(dirname "$0")" && pwd)
wm=$build/bin/wm
python=${PYTHON:-python3}
mkdir -p "$out"
rows=$out/cuda-real.jsonl errors=$out/errors.txt
: > "$rows"
: > "$errors"
pair=${PAIR:-$out/pair}
if [ -z "${PAIR:-}" ]; then
  nvcc -O2 -std=c++17 -arch=sm_90 "$here/pair.cu" -o "$pair" || exit 1
fi
ready=${READY:-3.5}  # seconds after which two programs are ready
limit=$(awk "BEGIN {print 20 + 4 * $seconds}")

wants() { [[ " $parts " == *" $1 "* ]]; }
note() {  # SETUP BESIDE RESULT
  if [[ $3 != "{"* ]]; then
    echo "run.sh: $1 beside $2: no result: $3" | tee -a "$errors"
    return
  fi
  echo "{\"setup\": \"$1\", \"beside\": \"$2\", \"result\": $3}" | tee -a "$rows"
}
single() {  # SETUP PREFIX KIND
  note "$1" none "$(timeout "$limit" $2 "$pair" "$3" "$seconds" 2>>"$errors")"
}
beside() {  # SETUP LATENCY-PREFIX BATCH-PREFIX KINDS [HIGH]
  local setup=$1 first=$2 second=$3 high=${5:-} kind id
  for kind in $4; do
    # Both start, become ready, and measure the same time.
    PAIR_BEGIN=$(awk "BEGIN {print $(date +%s.%N) + $ready}" OFMT=%.3f)
    export PAIR_BEGIN
    timeout "$limit" $second "$pair" "$kind" "$seconds" > "$out/batch.json" 2>>"$errors" &
    id=$!
    sleep 0.5
    timeout "$limit" $first "$pair" latency "$seconds" $high > "$out/latency.json" 2>>"$errors" &
    local other=$!
    if [ -n "${socket:-}" ]; then
      sleep "$(awk "BEGIN {print $ready - 0.5 + 0.8 * $seconds}")"
      "$wm" status --socket "$socket" --json "$out/status.json" > /dev/null 2>>"$errors"
    fi
    wait $other
    wait $id
    unset PAIR_BEGIN
    note "$setup" "$kind" "$(cat "$out/latency.json")"
    note "$setup" latency "$(cat "$out/batch.json")"
    if [ -n "${socket:-}" ]; then
      echo "{\"setup\": \"$setup\", \"beside\": \"$kind\", \"status\": $(tr -d '\n' < "$out/status.json")}" >> "$rows"
    fi
  done
}
daemon_id='' socket=''
daemon() {  # OPTIONS…
  socket=$(mktemp -u)
  "$wm" serve --cuda --socket "$socket" "$@" >> "$out/serve.txt" 2>&1 &
  daemon_id=$!
  for _ in $(seq 200); do [ -S "$socket" ] && return 0; sleep 0.05; done
  echo "run.sh: wm serve --cuda $* does not start: $(tail -1 "$out/serve.txt")" | tee -a "$errors"
  return 1
}
end_daemon() {
  kill "$daemon_id" 2>/dev/null
  wait "$daemon_id" 2>/dev/null
  daemon_id='' socket=''
}
trap 'end_daemon' EXIT
low() { echo "$wm run --socket $socket --"; }
high() { echo "$wm run --socket $socket --priority 5 --"; }

if wants single; then
  for kind in latency compute memory; do single single "" $kind; done
fi
wants native && beside native "" "" "compute memory"
if wants mps && daemon --sharing mps; then
  pipe=$("$wm" status --socket "$socket" --json - 2>/dev/null | sed -n 's/.*"mps_pipe_folder": *"\([^"]*\)".*/\1/p')
  plain="env CUDA_MPS_PIPE_DIRECTORY=$pipe" kept=$socket
  socket=''
  beside mps "$plain" "$plain" "compute memory"
  beside mps-priority "$plain" "$plain" "compute memory" high
  socket=$kept
  end_daemon
fi
if wants limits; then
  for headroom in 0 25 50 62 75; do
    daemon --sharing mps --headroom $headroom && beside "ours-mps-headroom-$headroom" "$(high)" "$(low)" "compute memory"
    end_daemon
  done
fi
if wants slices; then
  for slice in 2048 1000 500 200 100; do
    daemon --sharing isolated --slice $slice && beside "ours-isolated-slice-$slice" "$(high)" "$(low)" "compute memory"
    end_daemon
  done
fi
if wants goal; then
  daemon --sharing mps &&
    beside ours-mps-goal-p99-100us "$wm run --socket $socket --goal p99=100us --" "$(low)" "compute memory"
  end_daemon
  daemon --sharing isolated --slice 2048 &&
    beside ours-isolated-goal-p99-600us "$wm run --socket $socket --goal p99=600us --" "$(low)" "compute"
  end_daemon
fi
if wants calls; then
  for _ in 1 2 3; do
    single native "" calls
    daemon --sharing isolated && single ours-isolated "$(low)" calls
    end_daemon
  done
fi
if wants torch; then
  for _ in 1 2; do
    note native none "$(timeout 120 $python "$here/inference.py" "$seconds" 2>>"$errors")"
    daemon --sharing isolated &&
      note ours-isolated none "$(timeout 120 $(low) $python "$here/inference.py" "$seconds" 2>>"$errors")"
    end_daemon
  done
fi
$python "$here/summary.py" "$rows" "$out/cuda-real.json" "validation/cuda_real/run.sh $*"
