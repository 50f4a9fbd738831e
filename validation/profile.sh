#!/usr/bin/env bash
# GPU cycles of every launch of the zoo, by NVIDIA's profiler: profile.sh BUILD OUT SIZE…
# Writes OUT-SIZE.csv: launches_on_gpu's rows with cycles, nanoseconds and executed warp instructions in place of times.
# Clocks and caches are left alone; L2 is emptied before a benchmark's first launch by launches_on_gpu itself.
set -euo pipefail
build=$1 out=$2
shift 2
metrics=gpc__cycles_elapsed.max,gpu__time_duration.sum,sm__inst_executed.sum
metrics+=,launch__registers_per_thread,launch__shared_mem_per_block
for size in "$@"; do
  ncu --clock-control none --cache-control none --metrics "$metrics" --csv --page raw --print-units base \
    "$build/validation/launches_on_gpu" "$out-$size-launches.csv" once "$size" >"$out-$size-ncu.csv"
done
