#!/usr/bin/env bash
# Programs from Debian (clinfo, clpeak, hashcat, clblast-tests, piglit), each on the device's own driver and then through a daemon.
# One line a program: what each way gave. Exits with 1 where something that passes natively fails through the daemon;
# programs that are not installed are named and left out.
#
#   validation/applications.sh build/release OUT [PROGRAM…]     # clinfo, clpeak, hashcat, hashcat-benchmark, xaxpy …
#
# LIMIT (seconds, 900) bounds each run. OUT keeps what the programs said; a native run that is there is not repeated.
set -uo pipefail
build=$1 out=$2
shift 2
limit=${LIMIT:-900}
here=$(realpath "$(dirname "$0")")
wm=$(realpath "$build/bin/wm")
export WM_DATA=$PWD
mkdir -p "$out" && out=$(realpath "$out")
socket=$(mktemp -u "${TMPDIR:-/tmp}/wm-applications-XXXXXX")
"$wm" serve --socket "$socket" > "$out/daemon.txt" 2>&1 &
daemon=$!
trap 'kill $daemon 2>/dev/null; wait $daemon' EXIT
for _ in $(seq 600); do grep -qs listening "$out/daemon.txt" && break; sleep 0.1; done

# Summarises a program's output in a few words that do not depend on speed.
summary() {  # PROGRAM FILE STATUS
  local text
  case $1 in
    clinfo) text="$(grep -m1 -c 'Device Name' "$2") device" ;;
    clpeak) text="$(grep -cE ' : [0-9.]+$' "$2") figures, $(grep -ci 'skipp' "$2") skipped, $(grep -ciE 'error|fail' "$2") errors" ;;
    hashcat) text="$(grep -ao 'Status.*Cracked' "$2" | grep -o Cracked), answer $(cat "$2.answer" 2>/dev/null)" ;;
    piglit) text=$(grep -E '^[0-9]+ [a-z]+$' "$2" | paste -sd, | sed 's/,/, /g') ;;
    hashcat-benchmark) text="$(grep -acE 'Speed.#1.*H/s' "$2") speeds" ;;
    *) text=$(sed 's/\x1b\[[0-9;]*m//g' "$2" | awk '/test\(s\)/ {n[$3] += $1} END {print n["passed"]+0, "passed,", n["skipped"]+0, "skipped,", n["failed"]+0, "failed"}') ;;
  esac
  [ "$3" = 0 ] && echo "$text" || echo "$text, exit $3"
}

run() {  # PROGRAM WAY COMMAND…
  local program=$1 file=$out/$1.$2 way=()
  [ "$2" = daemon ] && way=("$wm" run --socket "$socket" --)
  shift 2
  rm -f "$file.answer"
  timeout "$limit" "${way[@]}" "$@" > "$file.txt" 2>&1
  local status=$?
  [ "$program" = hashcat ] && [ -f "$out/answer" ] && mv "$out/answer" "$file.txt.answer"
  summary "$program" "$file.txt" $status > "$file"
}

command_of() {
  case $1 in
    clinfo) echo clinfo ;;
    clpeak) echo clpeak ;;
    hashcat) echo "hashcat -m 0 -a 0 -D 1 --force --potfile-disable --session wm$$ -o $out/answer $out/hash $out/words" ;;
    piglit) ls -d /usr/lib/*/piglit > /dev/null 2>&1 && echo "$here/piglit.sh" || echo piglit ;;
    hashcat-benchmark) echo "hashcat -b -m 0 -D 1 --force --session wm$$" ;;
    *) echo "clblast_test_$1" ;;
  esac
}

programs=("$@")
if [ $# = 0 ]; then
  programs=(clinfo clpeak hashcat hashcat-benchmark piglit)
  for test in /usr/bin/clblast_test_*; do programs+=("${test#/usr/bin/clblast_test_}"); done
fi
printf '%s' warpmux | md5sum | cut -d' ' -f1 > "$out/hash"
printf '%s\n' alpha beta warpmux gamma > "$out/words"

worse=0
printf '%-22s %-42s %s\n' program 'own driver' 'through the daemon'
for program in "${programs[@]}"; do
  read -ra words <<< "$(command_of "$program")"
  if ! command -v "${words[0]}" > /dev/null; then
    printf '%-22s %s\n' "$program" 'not installed'
    continue
  fi
  [ -s "$out/$program.native" ] || run "$program" native "${words[@]}"
  run "$program" daemon "${words[@]}"
  verdict=''
  if ! cmp -s "$out/$program.native" "$out/$program.daemon"; then
    verdict='  differs'
    # For a suite of programs only those that pass natively are compared: a program may crash natively and pass through the daemon.
    lost=$(grep ' pass$' "$out/$program.native.txt" | grep -vxFf "$out/$program.daemon.txt")
    if [ "$program" != piglit ] || [ -n "$lost" ]; then worse=1; fi
    [ "$program" = piglit ] && verdict="  ${lost:-nothing lost}"
  fi
  printf '%-22s %-42s %s%s\n' "$program" "$(cat "$out/$program.native")" "$(cat "$out/$program.daemon")" "$verdict"
done
kill -0 $daemon 2>/dev/null || { echo 'the daemon has ended'; worse=1; }
"$wm" status --socket "$socket"
exit $worse
