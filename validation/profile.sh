#!/usr/bin/env bash
# GPU cycles of every launch of the zoo, by NVIDIA's profiler: profile.sh BUILD OUT SIZE…
# Writes OUT-SIZE.csv: launches_on_gpu's rows with cycles, nanoseconds, executed warp instructions and registers in place
# of times. Clocks and caches are not changed; L2 is emptied before a benchmark's first launch by launches_on_gpu itself.
set -euo pipefail
build=$1 out=$2
shift 2
metrics=gpc__cycles_elapsed.max,gpu__time_duration.sum,sm__inst_executed.sum
for size in "$@"; do
  ncu --clock-control none --cache-control none --metrics "$metrics" --csv --page raw --print-units base \
    "$build/validation/launches_on_gpu" "$out-launches.csv" once "$size" >"$out-ncu.csv"
  awk -v launches="$out-launches.csv" '
    function field(name) { value = f[column[name]]; gsub(",", "", value); return value }
    BEGIN {
      while ((getline line < launches) > 0) {
        if (line ~ /^#/) { sub(/command: .*/, "command: profile.sh", line); print line }
        else if (line ~ /^benchmark,/) { sub(/,microseconds/, "", line); print line ",cycles,nanoseconds,instructions,registers" }
        else { sub(/,[^,]*$/, "", line); row[rows++] = line }
      }
    }
    /^"/ {
      gsub(/^"|"$/, ""); n = split($0, f, "\",\"")
      if (f[1] == "ID") { for (i = 1; i <= n; i++) column[f[i]] = i; next }
      if (f[1] == "" || f[column["Kernel Name"]] == "wm_evict") next
      print row[next_row++] "," field("gpc__cycles_elapsed.max") "," field("gpu__time_duration.sum") "," \
        field("sm__inst_executed.sum") "," field("launch__registers_per_thread")
    }' "$out-ncu.csv" >"$out-$size.csv"
  rm "$out-launches.csv" "$out-ncu.csv"
done
