#!/usr/bin/env bash
# Builds the form runner and runs every instruction form on this machine's GPU: validation/semantics/run.sh DIRECTORY
# leaves DIRECTORY/results.txt (to commit as validation/semantics/h200.txt) and DIRECTORY/full.bin.gz (all outputs).
set -euo pipefail
out=${1:?usage: run.sh DIRECTORY}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources=()
for file in "$here"/*.cc; do
  [[ $file == */generate.cc ]] || sources+=("$file")
done
g++ -std=c++20 -O1 -I"$here/../../src" -o "$work/run_on_gpu" "${sources[@]}" -ldl
time "$work/run_on_gpu" "$out"
gzip -9 -f "$out/full.bin"
ls -l "$out"
