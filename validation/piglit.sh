#!/usr/bin/env bash
# Piglit's OpenCL programs (Debian's package), each with a time limit of its own, on whatever OpenCL the environment names:
#   wm run -- validation/piglit.sh        # validation/applications.sh runs it both ways
# A line for each: its name and pass, fail, skip, warn or none (it crashed); then how many of each.
set -uo pipefail
cd "$(dirname "$(ls -d /usr/lib/*/piglit/bin 2>/dev/null | head -1)")" || exit 2

one() {  # NAME COMMAND…
  local name=$1 said
  shift
  said=$(timeout 120 "$@" 2>&1 | grep -ao 'PIGLIT: {"result": "[a-z]*"' | tail -1 | cut -d'"' -f4)
  echo "$name ${said:-none}"
}

{
  # cl-api-enqueue-fill-buffer of this version compares what lies beyond its arrays.
  for program in bin/cl-api-* bin/cl-custom-* bin/cl-program-[!t]*; do
    [ "$program" = bin/cl-api-enqueue-fill-buffer ] || one "${program#bin/}" "$program" -auto
  done
  find tests/cl generated_tests/cl -name '*.cl' -o -name '*.program_test' | sort | while read -r test; do
    if [[ $test == *.cl ]] && ! grep -q config "$test"; then continue; fi
    one "$test" bin/cl-program-tester "$test"
  done
} | awk '{print; n[$NF]++} END {for (i in n) print n[i], i | "sort -k2"}'
