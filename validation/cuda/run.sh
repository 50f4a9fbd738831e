#!/bin/bash
# Builds the programs of this folder with nvcc, linked with the runtime library statically and shared, and runs them on
# the GPU and on the simulated one. Prints a table; OUT gets results.csv and the programs' output.
#
#   validation/cuda/run.sh OUT [PROGRAM…]        WM_LIBRARIES: the folder of the simulated libcuda.so.1
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
libraries=${WM_LIBRARIES:-$here/../../build/device/lib/simulated}
work=${WM_WORK:-/tmp/warpmux-cuda}
jobs=$(nproc)
mkdir -p "$work" "$out/log"
programs=("$@")
[ ${#programs[@]} -eq 0 ] && programs=($(cd "$here" && ls *.cu | sed 's/\.cu$//'))

build() {
  nvcc -O2 -std=c++17 -arch=sm_90 --extended-lambda -w -c "$1/$3.cu" -o "$2/$3.o" &&
    nvcc -arch=sm_90 -cudart static "$2/$3.o" -o "$2/$3.static" &&
    nvcc -arch=sm_90 -cudart shared "$2/$3.o" -o "$2/$3.shared"
}
export -f build
printf '%s\n' "${programs[@]}" | xargs -P "$jobs" -I{} bash -c "build '$here' '$work' {} > '$out/log/{}.build' 2>&1"
echo "programs built after $SECONDS s"
[ -n "${WM_WAIT_FOR:-}" ] && wait_for=$WM_WAIT_FOR && while [ ! -e "$wait_for" ]; do sleep 0.2; done

run() {  # LOG COMMAND…
  local log=$1
  shift
  timeout "${WM_TIMEOUT:-60}" "$@" > "$log" 2>&1
  echo $? > "$log.code"
}
export -f run
export WARPMUX_SIMULATE=h200 WARPMUX_GPUS="$here/../../configs/gpus"
[ -z "${WM_NO_NATIVE:-}" ] && printf '%s\n' "${programs[@]}" | xargs -P 4 -I{} bash -c "run '$out/log/{}.native' '$work/{}.static'"
for kind in static shared; do
  printf '%s\n' "${programs[@]}" | xargs -P "$jobs" -I{} bash -c \
    "LD_LIBRARY_PATH='$libraries' run '$out/log/{}.$kind' '$work/{}.$kind'"
done
echo "programs run after $SECONDS s"

code() { cat "$1.code" 2>/dev/null || echo -; }
echo "program,native,static,shared" > "$out/results.csv"
for p in "${programs[@]}"; do
  line="$p,$(code "$out/log/$p.native"),$(code "$out/log/$p.static"),$(code "$out/log/$p.shared")"
  echo "$line" >> "$out/results.csv"
  for kind in native static shared; do
    [ "$(code "$out/log/$p.$kind")" = 0 ] || echo "$p $kind $(code "$out/log/$p.$kind"): $(tail -n 3 "$out/log/$p.$kind" 2>/dev/null | tr '\n' ' ' | cut -c1-220)"
  done
done
