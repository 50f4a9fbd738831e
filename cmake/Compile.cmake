# Compiler options of every target: warnings are errors, and IEEE arithmetic keeps results independent of the compiler.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Every library may become part of a shared one: the Python module contains nearly all of them.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# ccache stores compilations with precompiled headers only where it need not compare their macros, and where gcc leaves a
# mark of the header in its preprocessed output.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  endif()
endif()

# -ffp-contract=off: a*b+c rounds twice on every host; the sources call fma where one rounding is meant.
add_compile_options(-Wall -Wextra -Wpedantic -Werror -ffp-contract=off -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)  # a false warning of gcc 12 on "literal" + std::string (GCC bug 105651)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  add_compile_options(-Wno-maybe-uninitialized)  # a false warning of gcc 13 on alternatives of a std::variant
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wno-pass-failed)  # clang warns when -O0 or a sanitizer keeps it from vectorising a marked loop
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")

# Flags that make gcc faster. clang-tidy does not know them, so a build of single sources, whose commands clang-tidy uses, is
# without them.
if(WM_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc collects garbage whenever its heap has doubled, which takes 5 to 14% of the compile time of these sources. It is given
  # a quarter of the memory that each of ninja's jobs can have, at most 1 GB.
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  cmake_host_system_information(RESULT memory_mib QUERY TOTAL_PHYSICAL_MEMORY)
  math(EXPR heap_kib "${memory_mib} * 1024 / (${cores} + 2) / 4")
  if(heap_kib GREATER 1048576)
    set(heap_kib 1048576)
  endif()
  add_compile_options("SHELL:--param ggc-min-heapsize=${heap_kib}")
  # Without optimisation gcc 12 compiles every std::move and std::forward as a function; this flag spares 5% of the time.
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
    add_compile_options(-ffold-simple-inlines)
  endif()
endif()

if(WM_SANITIZE)
  add_compile_options(-fsanitize=${WM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WM_SANITIZE})
  # gcc gives false warnings about instrumented library code; the sanitizer checks the same accesses at run time.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-maybe-uninitialized)
  endif()
endif()
if(WM_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
