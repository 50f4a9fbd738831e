#!/usr/bin/env bash
# Unmodified CUDA programs on a real GPU, by themselves and beside each other: in the driver's own time slices, through
# MPS, and under `wm serve --cuda`. Writes OUT/cuda-real.json; about six minutes.
#
#   validation/cuda_real/run.sh build/device out [SECONDS [PARTS]]
#
# PARTS: any of torch torchpair native mps default gates loss opencl probe limits slices goal policies calls green more, in
# this order; `more` are further limits and slices. PAIR_PARTS divides every measured time for the spread of its results
# (5). REPEATS (3) is how often PyTorch is measured by itself; other rows follow it.
# PAIR, OPENCL_PAIR and GREEN name the programs of this folder compiled, or others with their arguments, for machines without
# nvcc (with the simulated driver: WARPMUX_LIBCUDA and LD_LIBRARY_PATH name it).
set -uo pipefail
build=$1 out=$2 seconds=${3:-2.5} parts=${4:-torch torchpair native mps default gates loss opencl probe limits slices goal policies calls green}
here=$(cd "$(dirname "$0")" && pwd)
wm=$build/bin/wm
python=${PYTHON:-python3}
repeats=${REPEATS:-3}
ready=${READY:-2.5}  # seconds after which two programs are ready
search=$(LC_ALL=C awk -v a="$ready" 'BEGIN {print a + 4.5}')  # … and the daemon has found its limits
export PAIR_PARTS=${PAIR_PARTS:-5}
mkdir -p "$out"
rows=$out/cuda-real.jsonl errors=$out/errors.txt
: > "$rows"
: > "$errors"
pair=${PAIR:-$out/pair}
if [ -z "${PAIR:-}" ]; then
  nvcc -O2 -std=c++17 -arch=sm_90 "$here/pair.cu" -o "$pair" || exit 1
fi

compile_green() {
  nvcc -O2 -std=c++17 -arch=sm_90 "$here/green.cu" -o "$green" \
    -L"$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")/lib64/stubs" -lcuda 2>>"$errors"
}
sum() { LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN {printf "%.3f", a + b}'; }
progress() { echo "run.sh: $1 done after $SECONDS s"; }
wants() { [[ " $parts " == *" $1 "* ]]; }
note() {  # SETUP BESIDE RESULT
  if [[ $3 != "{"* ]]; then
    echo "run.sh: $1 beside $2: no result: $3" | tee -a "$errors"
    return 1
  fi
  echo "{\"setup\": \"$1\", \"beside\": \"$2\", \"result\": $3}" | tee -a "$rows"
}
single() {  # SETUP PREFIX KIND [SECONDS]
  note "$1" none "$(timeout 30 $2 "$pair" "$3" "${4:-$seconds}" 2>>"$errors")"
}
beside() {  # SETUP LATENCY-PREFIX BATCH-PREFIX KINDS [HIGH [SECONDS]]
  local setup=$1 first=$2 second=$3 high=${5:-} time=${6:-$seconds} kind id other failed=0 service batch
  for kind in $4; do
    # Both start, become ready, and measure the same time.
    PAIR_BEGIN=$(sum "$(date +%s.%N)" "$ready")
    export PAIR_BEGIN
    service="$pair ${request:-latency} $time $high" batch="$pair $kind $time"
    timeout 60 $second $batch > "$out/batch.json" 2>>"$errors" &
    id=$!
    sleep 1
    timeout 60 $first $service > "$out/latency.json" 2>>"$errors" &
    other=$!
    if [ -n "$socket" ]; then
      sleep "$(sum "$(sum "$ready" "$time")" -1.4)"  # shortly before the end
      "$wm" status --socket "$socket" --json "$out/status.json" > /dev/null 2>>"$errors"
    fi
    wait $other
    wait $id
    unset PAIR_BEGIN
    note "$setup" "$kind" "$(cat "$out/latency.json")" || failed=1
    note "$setup" latency "$(cat "$out/batch.json")" || failed=1
    if [ -n "$socket" ]; then
      echo "{\"setup\": \"$setup\", \"beside\": \"$kind\", \"status\": $(tr -d '\n' < "$out/status.json")}" >> "$rows"
    fi
  done
  return $failed
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
  [ -n "$daemon_id" ] && kill "$daemon_id" 2>/dev/null && wait "$daemon_id" 2>/dev/null
  daemon_id='' socket=''
}
finish() {
  end_daemon
  $python "$here/summary.py" "$rows" "$out/cuda-real.json" "validation/cuda_real/run.sh $arguments"
}
arguments="$*"
trap finish EXIT
low() { echo "$wm run --socket $socket --"; }
high() { echo "$wm run --socket $socket --priority 5 --"; }
limits() {  # HEADROOM…
  local headroom
  for headroom in "$@"; do
    daemon --sharing mps --headroom "$headroom" &&
      beside "ours-mps-headroom-$headroom" "$(high)" "$(low)" "compute memory"
    end_daemon
  done
}
slices() {  # MICROSECONDS…
  local slice
  for slice in "$@"; do
    daemon --sharing isolated --slice "$slice" --max-loss 1 &&
      beside "ours-isolated-slice-$slice" "$(high)" "$(low)" "compute memory"
    end_daemon
  done
}

# PyTorch by itself and beside other programs, in a program of its own: its processes serve several measurements.
torch_parts=''
wants torch && torch_parts=single
wants torchpair && torch_parts+=,pairs
if [ -n "$torch_parts" ]; then
  $python "$here/torch_rows.py" --wm "$wm" --pair "$pair" --out "$out" --seconds "$seconds" --repeats "$repeats" \
    --parts "$torch_parts" 2>&1 || echo "run.sh: torch_rows.py has failed" | tee -a "$errors"
  progress torch
fi
if wants native; then
  for kind in latency latency compute memory; do single single "" $kind; done
  if ! beside native "" "" "compute memory"; then
    echo "run.sh: two programs cannot be measured beside each other natively; stopping" | tee -a "$errors"
    exit 1
  fi
fi
wants native && progress native
if wants mps && daemon --sharing mps; then
  pipe=$("$wm" status --socket "$socket" --json - 2>/dev/null | sed -n 's/.*"mps_pipe_folder": *"\([^"]*\)".*/\1/p')
  plain="env CUDA_MPS_PIPE_DIRECTORY=$pipe"
  socket=''
  beside mps "$plain" "$plain" "compute memory"
  beside mps-priority "$plain" "$plain" "compute memory" high
fi
end_daemon
wants mps && progress mps
# The default of --sharing mps, which takes some time to find its limits; more than once, from a new start.
if wants default && daemon --sharing mps; then
  for _ in $(seq $((repeats > 1 ? repeats - 1 : 1))); do
    single ours-mps "$(high)" latency
    ready=$search beside ours-mps "$(high)" "$(low)" "compute memory"
  done
fi
end_daemon
wants default && progress default
# Gates, with limits that are searched.
if wants gates; then
  daemon --sharing mps --gates && ready=$search beside ours-mps-gates "$(high)" "$(low)" "compute memory"
  end_daemon
fi
wants gates && progress gates
# Isolated, with short slices as long as the batch program's loss is below the bound.
if wants loss; then
  for loss in 0.3 0.5; do
    daemon --sharing isolated --max-loss $loss &&
      beside "ours-isolated-loss-$loss" "$(high)" "$(low)" "compute$([ $loss = 0.3 ] && echo " memory")" "" \
        "$(sum "$seconds" 1.5)"
    end_daemon
  done
fi
wants loss && progress loss
# Isolated programs of OpenCL.
if wants opencl; then
  cuda_pair=$pair pair=${OPENCL_PAIR:-$out/opencl_pair}
  [ -n "${OPENCL_PAIR:-}" ] || g++ -O2 -std=c++17 "$here/opencl_pair.cc" -o "$pair" -lOpenCL 2>>"$errors"
  for kind in latency compute; do single opencl-single "" $kind; done
  beside opencl-native "" "" compute
  daemon --sharing isolated &&
    beside opencl-isolated-loss-0.3 "$(high)" "$(low)" compute "" "$(sum "$seconds" 1.5)"
  end_daemon
  pair=$cuda_pair
fi
wants opencl && progress opencl
# Where the time of requests goes.
if wants probe; then
  single single "" probe
  request=probe
  for headroom in 50 62; do
    daemon --sharing mps --headroom $headroom && beside "probe-mps-headroom-$headroom" "$(high)" "$(low)" "compute memory"
    end_daemon
  done
  request=''
fi
wants probe && progress probe
wants limits && limits 50 62
wants slices && slices 100 200
if wants goal; then
  daemon --sharing mps &&
    beside ours-mps-goal-p99-100us "$wm run --socket $socket --goal p99=100us --" "$(low)" "compute memory" "" 4
  end_daemon
  daemon --sharing isolated --slice 2048 &&
    beside ours-isolated-goal-p99-600us "$wm run --socket $socket --goal p99=600us --" "$(low)" compute "" 4
  end_daemon
fi
wants goal && progress goal
if wants policies; then
  daemon --sharing mps --policy priority_shares &&
    beside ours-mps-priority_shares "$(high)" "$(low)" "compute memory"
  end_daemon
fi
wants policies && progress policies
if wants calls && daemon --sharing isolated; then
  pinned=''
  command -v taskset > /dev/null && pinned="taskset -c 2"
  [ "$(nproc)" -gt 2 ] || pinned=''
  for _ in $(seq $((2 * repeats))); do
    single native "$pinned" calls 0.4
    single ours-isolated "$pinned $(low)" calls 0.4
  done
fi
end_daemon
wants calls && progress calls
# Sets of SMs: what green contexts can do for programs that do not know them.
green=${GREEN:-$out/green}
if wants green && { [ -n "${GREEN:-}" ] || compile_green; }; then
  note single none "$(timeout 60 "$green" 2>>"$errors")"
  if daemon --sharing mps; then
    pipe=$("$wm" status --socket "$socket" --json - 2>/dev/null | sed -n 's/.*"mps_pipe_folder": *"\([^"]*\)".*/\1/p')
    note mps none "$(timeout 60 env CUDA_MPS_PIPE_DIRECTORY="$pipe" "$green" 2>>"$errors")"
    note ours-mps none "$(timeout 60 $(low) "$green" 2>>"$errors")"
  fi
  end_daemon
fi
wants green && progress green
if wants more; then
  slices 500 1000 2048
  limits 75 25 0
fi
