#!/bin/bash
# Builds the simulated CUDA driver and its daemon with sanitizers, runs their tests, and fuzzes loader, API, fat binaries
# and the daemon's messages for some minutes each. Needs gcc and GTest; OUT gets a log per step.
#
#   validation/cuda/sanitize.sh OUT [SECONDS]        default: 600 seconds per target
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
seconds=${2:-600}
cd "$here"

configure() {  # FOLDER SANITIZERS
  cmake -G Ninja -S . -B "$1" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DWM_SANITIZE="$2" > "$out/$(basename "$1").configure" 2>&1
}

configure build/cuda-asan address,undefined
cmake --build build/cuda-asan --target warpmux_cuda wm_simulated_server test_runtime_cuda test_runtime_simulated \
  > "$out/asan.build" 2>&1 || exit 1
for test in test_runtime_cuda test_runtime_simulated; do
  timeout 600 build/cuda-asan/tests/$test > "$out/asan.$test" 2>&1
  echo "asan $test: $?"
done

asan=build/cuda-asan
flags="-std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Isrc -I. -I$asan/generated -pthread"
libraries="$asan/src/runtime/libwm_simulated_server.a $asan/src/runtime/libwm_simulated.a $asan/src/runtime/libwm_protocol.a"
libraries+=" $(ls $asan/libwm_*.a | tr '\n' ' ')"
for target in fat_binary cuda_load served_program cuda_api; do
  link="-Wl,--start-group $libraries -Wl,--end-group -lfmt -lyaml-cpp -lzstd"
  [ $target = cuda_api ] && link="-L$asan/lib/simulated -l:libcuda.so.1 -Wl,-rpath,$here/$asan/lib/simulated"
  # shellcheck disable=SC2086
  g++ $flags fuzz/standalone.cc fuzz/$target.cc -o "$asan/fuzz_$target" $link > "$out/fuzz.$target.build" 2>&1 &
done
wait
for target in fat_binary cuda_load served_program cuda_api; do
  mkdir -p "$out/$target" && ln -sfn "$here/configs" "$out/$target/configs"
  files=
  [ $target = cuda_load ] && files="$here/fuzz/corpus/exec/*"
  # shellcheck disable=SC2086
  (cd "$out/$target" && LD_LIBRARY_PATH=$here/$asan/lib/simulated timeout $((seconds + 300)) "$here/$asan/fuzz_$target" "$seconds" 1 $files > ../fuzz.$target 2>&1
   echo "fuzz $target: $? $(grep inputs ../fuzz.$target)") &
done
wait

configure build/cuda-tsan thread
cmake --build build/cuda-tsan --target wm warpmux_cuda shared_cuda_program test_runtime_cuda \
  test_runtime_simulated test_runtime_simulated_server > "$out/tsan.build" 2>&1 || exit 1
for test in test_runtime_cuda test_runtime_simulated test_runtime_simulated_server; do
  timeout 900 build/cuda-tsan/tests/$test > "$out/tsan.$test" 2>&1
  echo "tsan $test: $? $(grep -c 'WARNING: ThreadSanitizer' "$out/tsan.$test") warnings"
done
