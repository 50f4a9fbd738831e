#!/usr/bin/env bash
# Cycles of the zoo's launches on a simulated GPU, many benchmarks at once: simulate.sh BUILD GPU OUT.csv BENCHMARK:SIZE…
# At most 12 launches of each are simulated (mri-gridding 51, lbm and stencil 3). JOBS: processes at a time; LIMIT:
# seconds, after which a benchmark is given up and named.
set -euo pipefail
build=$1 gpu=$2 out=$3
shift 3
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
one() {
  local benchmark=${1%:*} size=${1#*:} max_launches=12
  case $benchmark in mri-gridding) max_launches=51 ;; lbm | stencil) max_launches=3 ;; esac
  local begin=$SECONDS
  timeout "${LIMIT:-600}" "$build/validation/zoo_on_sim" "$gpu" "$size" "$max_launches" "$benchmark" >"$parts/$benchmark.$size" ||
    { echo "$1: given up" >&2; rm -f "$parts/$benchmark.$size"; }
  echo "$1: $((SECONDS - begin)) s" >&2
}
export -f one
export build gpu parts
printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -I{} bash -c 'one {}'
{
  echo "# $(date -u +%Y-%m-%d); simulated GPU $gpu; command: simulate.sh"
  echo "benchmark,size,launch,kernel,cycles,instructions"
  cat "$parts"/* | grep -v '^benchmark,' | sort -t, -k1,1 -k2,2 -k3,3n
} >"$out"
