# Writes ${OUT}: the benchmark's entry with its PTX (${PTX}) and OpenCL C (${SOURCE}) as string literals.
file(READ ${PTX} ptx)
file(READ ${SOURCE} source)
file(WRITE ${OUT} "// Generated from the benchmark's folder; do not edit.
#include \"kernels/benchmark.h\"

namespace wm::zoo {

Benchmark benchmark_${IDENT}();

Entry entry_${IDENT}() {
  static constexpr std::string_view ptx = R\"WM_TEXT(${ptx})WM_TEXT\";
  static constexpr std::string_view source = R\"WM_TEXT(${source})WM_TEXT\";
  return {benchmark_${IDENT}(), ptx, source};
}

}  // namespace wm::zoo
")
