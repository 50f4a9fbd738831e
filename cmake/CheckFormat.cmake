# Fails and lists the files that clang-format would change.
file(GLOB_RECURSE files ${ROOT}/src/*.h ${ROOT}/src/*.cc ${ROOT}/kernels/*.h ${ROOT}/kernels/*.cc ${ROOT}/tests/*.h ${ROOT}/tests/*.cc
     ${ROOT}/bench/*.cc ${ROOT}/fuzz/*.cc ${ROOT}/validation/*.h ${ROOT}/validation/*.cc ${ROOT}/validation/corpus/*.cu)
list(FILTER files EXCLUDE REGEX "/kernels/opencl/|/kernels/cuda_prelude.h")  # OpenCL C and CUDA with many macros
execute_process(COMMAND ${CLANG_FORMAT} --dry-run -Werror ${files} RESULT_VARIABLE code ERROR_VARIABLE errors)
if(NOT code EQUAL 0)
  string(REGEX MATCHALL "[^\n]+: error: [^\n]*" names "${errors}")
  list(TRANSFORM names REPLACE ":[0-9]+:[0-9]+: error.*" "")
  list(REMOVE_DUPLICATES names)
  list(JOIN names "\n  " names)
  message(FATAL_ERROR "clang-format would change\n  ${names}")
endif()
