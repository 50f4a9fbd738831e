# How every target is compiled: warnings are errors, IEEE arithmetic is kept, results do not depend on the compiler.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# -ffp-contract=off: a*b+c stays two roundings unless fma is written, on every host.
add_compile_options(-Wall -Wextra -Wpedantic -Werror -ffp-contract=off -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)  # a false alarm of gcc 12 on "literal" + std::string (GCC bug 105651)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wno-pass-failed)  # loops marked as safe to vectorise that a sanitizer, or -O0, leaves scalar
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")

if(WM_SANITIZE)
  add_compile_options(-fsanitize=${WM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WM_SANITIZE})
  # gcc's array-bounds warning sees ghosts in instrumented library code; the sanitizer itself checks these accesses.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-maybe-uninitialized)
  endif()
endif()
if(WM_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
