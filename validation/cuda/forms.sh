#!/bin/bash
# Runs the programs of this folder on the simulated driver as they are, and through `wm serve --cuda` with every kernel in its
# second form from its first launch on: with gates, or as workers. Exit codes and standard output must be the same. OUT
# gets results.csv, the programs' output, and kernels.txt, which says of every kernel whether it has that form.
#
#   validation/cuda/forms.sh gates|workers BUILD OUT [PROGRAM…]     WM_WORK: a folder with programs built before
set -u
here=$(cd "$(dirname "$0")" && pwd)
form=$1 build=$(cd "$2" && pwd) out=$3
shift 3
case $form in
  gates) options=(--gates) ;;
  workers) options=(--policy spatial --workers) ;;
  *) echo "$form is neither gates nor workers" >&2; exit 2 ;;
esac
work=${WM_WORK:-$out/programs}
mkdir -p "$work" "$out/log"
programs=("$@")
[ ${#programs[@]} -eq 0 ] && programs=($(cd "$here" && ls *.cu | sed 's/\.cu$//'))
for p in "${programs[@]}"; do
  [ -e "$work/$p.shared" ] ||
    nvcc -O2 -std=c++17 -arch=compute_90 --extended-lambda -w -cudart shared "$here/$p.cu" -o "$work/$p.shared" ||
    exit 1
done

export WARPMUX_LIBCUDA=$build/lib/simulated/libcuda.so.1 WARPMUX_SIMULATE=h200 WARPMUX_GPUS=$here/../../configs/gpus
# Programs share nothing on this driver, so no MPS daemon is needed.
printf '#!/bin/sh\n[ "$1" = -d ] || cat > /dev/null\n' > "$out/mps"
chmod +x "$out/mps"
socket=$(mktemp -u)
WARPMUX_MPS_CONTROL=$out/mps WARPMUX_GATES=always WARPMUX_WORKERS=always \
  "$build/bin/wm" serve --cuda --sharing mps "${options[@]}" --socket "$socket" > "$out/serve.txt" 2> "$out/kernels.txt" &
daemon=$!
trap 'kill $daemon; wait $daemon' EXIT
for _ in $(seq 200); do [ -S "$socket" ] && break; sleep 0.05; done

failed=0
echo "program,code,code with $form,output" > "$out/results.csv"
for p in "${programs[@]}"; do
  LD_LIBRARY_PATH=$build/lib/simulated timeout 60 "$work/$p.shared" > "$out/log/$p.plain" 2> "$out/log/$p.plain.errors"
  plain=$?
  LD_LIBRARY_PATH=$build/lib/forward:$build/lib/simulated WARPMUX_ARBITER=$socket \
    timeout 60 "$work/$p.shared" > "$out/log/$p.$form" 2> "$out/log/$p.$form.errors"
  changed=$?
  same=same
  cmp -s "$out/log/$p.plain" "$out/log/$p.$form" || same=different
  echo "$p,$plain,$changed,$same" >> "$out/results.csv"
  [ "$plain" = "$changed" ] && [ $same = same ] && continue
  failed=$((failed + 1))
  echo "$p: $plain as it is and $changed with $form, output $same"
done
sleep 0.2 # the daemon notes the last program's end
echo "${#programs[@]} programs, $failed different; kernels with $form: $(grep -c ": $form\$" "$out/kernels.txt")"
[ $failed = 0 ]
