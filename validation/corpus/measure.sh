#!/usr/bin/env bash
# Measures the corpus on a GPU: validation/corpus/measure.sh BUILD OUT
# Compiles every .cu with nvcc, runs each case cold and warm under NVIDIA's profiler and writes to OUT:
#   corpus.csv         cycles (median of three runs), executed warp instructions, traffic and registers of every launch
#   ptx/, sass/        the PTX and the machine code of every file
# Clocks and caches are not changed; corpus_on_gpu empties L2 before the first launch of a case.
set -euo pipefail
build=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out/ptx" "$out/sass" "$out/cubin" "$out/raw"
compile() {
  nvcc -O3 -std=c++17 -arch=sm_90 -w -ptx "$1/$3.cu" -o "$2/ptx/$3.ptx"
  nvcc -O3 -std=c++17 -arch=sm_90 -w -cubin "$1/$3.cu" -o "$2/cubin/$3.cubin"
  cuobjdump -sass "$2/cubin/$3.cubin" >"$2/sass/$3.sass"
}
export -f compile
(cd "$here" && ls ./*.cu | sed 's|^\./||; s/\.cu$//') | xargs -P "$(nproc)" -I{} bash -c "compile '$here' '$out' {}"
echo "compiled after $SECONDS s"
while [ ! -x "$build/validation/corpus_on_gpu" ]; do sleep 0.5; done
program=("$build/validation/corpus_on_gpu" "$here/kernels.txt" "$out/cubin")
"${program[@]}" "$out/raw/events.csv"
echo "run once after $SECONDS s"
profile() {  # NAME ARGUMENT…
  local name=$1
  shift
  ncu --clock-control none --cache-control none --csv --page raw --print-units base -k 'regex:^(?!wm_evict)' "$@" \
    "${program[@]}" "$out/raw/ignored.csv" >"$out/raw/$name.csv"
  echo "$name after $SECONDS s"
}
cycles=gpc__cycles_elapsed.max,gpu__time_duration.sum,sm__inst_executed.sum
for i in 1 2 3; do profile "cycles$i" --metrics "$cycles"; done
profile traffic --replay-mode application --metrics \
  lts__t_sectors_srcunit_tex.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,dram__bytes_read.sum,dram__bytes_write.sum
awk -F, -v raw="$out/raw" '
  function field(file, name) { return value[file, name, row + 0] }
  function median(a, b, c) { return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b) }
  function read(file,   line, n, f, i, header, rows) {
    while ((getline line < (raw "/" file ".csv")) > 0) {
      if (line !~ /^"/) continue
      gsub(/^"|"$/, "", line); n = split(line, f, "\",\"")
      if (f[1] == "ID") { for (i = 1; i <= n; i++) header[i] = f[i]; continue }
      if (f[1] == "") continue
      for (i = 1; i <= n; i++) { gsub(",", "", f[i]); value[file, header[i], rows + 0] = f[i] }
      rows++
    }
  }
  BEGIN {
    read("cycles1"); read("cycles2"); read("cycles3"); read("traffic")
    c = "gpc__cycles_elapsed.max"
  }
  /^#/ { sub(/command: .*/, "command: validation/corpus/measure.sh"); print; next }
  /^name,/ { print "name,launch,cycles,nanoseconds,instructions,l1_l2_sectors,l2_reads,l2_writes,dram_read_bytes,dram_write_bytes,registers,digest"; next }
  {
    print $1 "," $2 "," median(field("cycles1", c), field("cycles2", c), field("cycles3", c)) "," \
      field("cycles1", "gpu__time_duration.sum") "," field("cycles1", "sm__inst_executed.sum") "," \
      field("traffic", "lts__t_sectors_srcunit_tex.sum") "," field("traffic", "lts__t_sectors_op_read.sum") "," \
      field("traffic", "lts__t_sectors_op_write.sum") "," field("traffic", "dram__bytes_read.sum") "," \
      field("traffic", "dram__bytes_write.sum") "," field("cycles1", "launch__registers_per_thread") "," $4
    row++
  }' "$out/raw/events.csv" >"$out/corpus.csv"
