# How the modules below src/ and the test programs become targets.

# wm_unity_build(TARGET): an optimised build compiles the target's sources in batches, so that the headers and templates they
# share are compiled once per batch. Names in the unnamed namespaces of one target must therefore differ. On a few cores a
# batch is the whole target, which takes 13% less processor time than two halves and up to 3 GB of memory; on many cores
# batches are smaller, so that no core waits for the largest. -DWM_UNITY_BUILD=OFF compiles every source separately, which
# is faster after a change to one file.
function(wm_unity_build target)
  if(WM_UNITY_BUILD)
    cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
    cmake_host_system_information(RESULT memory_mib QUERY TOTAL_PHYSICAL_MEMORY)
    math(EXPR job_mib "${memory_mib} / (${cores} + 2)")
    set(count 36)
    if(cores LESS_EQUAL 4 AND job_mib GREATER_EQUAL 4000)
      set(count 0)  # all
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
    # gcc treats an included source as a header and warns about types with members from unnamed namespaces.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# wm_unity_group(TARGET sources…): as wm_unity_build, for these sources of the target. The others are compiled separately: their
# speed was measured so, and a batch changes what the compiler inlines.
function(wm_unity_group target)
  if(WM_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${target})
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# wm_precompile_headers(TARGET headers…): precompiles the given headers and the standard ones that most sources include.
# A unity build parses them once per batch already, so it gets no precompiled header.
function(wm_precompile_headers target)
  get_target_property(unity ${target} UNITY_BUILD)
  if(unity)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE <algorithm> <map> <memory> <string> <vector> ${ARGN})
  target_compile_options(${target} PRIVATE  # false warnings of gcc 12 about strings in precompiled headers
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
endfunction()

# wm_module(NAME [UNITY] LINK libs…): the static library wm_NAME from every .cc below src/NAME. A new file needs no edit
# here. The library of a module in a subfolder, sim/cycle, is wm_sim_cycle. UNITY: compiled as wm_unity_build describes.
function(wm_module name)
  string(REPLACE / _ library wm_${name})
  cmake_parse_arguments(MODULE "UNITY" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  if(sources)
    add_library(${library} STATIC ${sources})
    target_include_directories(${library} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${library} PUBLIC ${MODULE_LINK})
    # The simulated CUDA driver is a shared library that contains these modules and shows none of their names.
    set_target_properties(${library} PROPERTIES CXX_VISIBILITY_PRESET hidden
                          VISIBILITY_INLINES_HIDDEN ON)
    if(MODULE_UNITY)
      wm_unity_build(${library})
    endif()
    wm_precompile_headers(${library} <fmt/format.h>)
  else()  # a module of headers only
    add_library(${library} INTERFACE)
    target_include_directories(${library} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${library} INTERFACE ${MODULE_LINK})
  endif()
endfunction()

# wm_run_by_suite(NAME PROGRAM sources…): registers one ctest test per suite instead of one per test case, for programs
# whose start costs more than most of their tests.
function(wm_run_by_suite name program)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  set(suites "")
  foreach(source ${ARGN})
    file(STRINGS ${source} tests REGEX "^TEST(_F)?\\(")
    list(TRANSFORM tests REPLACE "^TEST[_F]*\\(([A-Za-z]+),.*" "\\1")
    list(APPEND suites ${tests})
  endforeach()
  list(REMOVE_DUPLICATES suites)
  list(FILTER suites EXCLUDE REGEX "^Long")
  foreach(suite ${suites})
    add_test(NAME ${name}/${suite} COMMAND ${program} --gtest_filter=${suite}.*)
    # ctest starts tests with a high cost first, so that none of these runs last, by itself.
    set_tests_properties(${name}/${suite} PROPERTIES LABELS ${name} TIMEOUT 600 COST 10)
  endforeach()
endfunction()

# wm_tests(NAME [BY_SUITE] [OPTIMISE] [FOLDERS folders…] LINK libs… PRECOMPILE headers…): the test program test_NAME from
# every .cc below tests/NAME (or below these folders of it), registered with ctest. PRECOMPILE: headers that most of the
# sources include. OPTIMISE: for tests that compute much themselves; the others are compiled without optimisation, which
# takes a fifth less time. The libraries under test are optimised in any case.
function(wm_tests name)
  string(REPLACE / _ program test_${name})
  cmake_parse_arguments(TESTS "BY_SUITE;OPTIMISE" "" "FOLDERS;LINK;PRECOMPILE" ${ARGN})
  set(globs ${PROJECT_SOURCE_DIR}/tests/${name}/*.cc)
  if(TESTS_FOLDERS)
    list(TRANSFORM TESTS_FOLDERS PREPEND ${PROJECT_SOURCE_DIR}/tests/${name}/ OUTPUT_VARIABLE globs)
    list(TRANSFORM globs APPEND /*.cc)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${globs})
  if(NOT sources)
    return()
  endif()
  add_executable(${program} ${sources})
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  if(TESTS_OPTIMISE)
    target_compile_options(${program} PRIVATE $<$<CONFIG:Release>:-O1>)
  else()
    target_compile_options(${program} PRIVATE $<$<CONFIG:Release>:-O0>)
  endif()
  target_link_libraries(${program} PRIVATE ${TESTS_LINK} wm_test_tree GTest::gtest_main GTest::gmock)
  wm_unity_build(${program})
  wm_precompile_headers(${program} <gtest/gtest.h> <gmock/gmock.h> ${TESTS_PRECOMPILE})
  # Suites named Long… take more than a few seconds; ./wm test leaves them out, ctest -L long runs them.
  if(TESTS_BY_SUITE)
    wm_run_by_suite(${name} ${program} ${sources})
  else()
    gtest_discover_tests(${program} TEST_FILTER -Long*:*/Long* DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${name} TIMEOUT 300)
  endif()
  gtest_discover_tests(${program} TEST_LIST ${program}_LONG TEST_FILTER Long*:*/Long* DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS long TIMEOUT 1800)
endfunction()

# wm_needs_at_run_time(TARGET targets…): TARGET starts or loads these when it runs. They are built before it is linked;
# with add_dependencies its sources would wait for them too, and be compiled last, by one core.
function(wm_needs_at_run_time target)
  foreach(needed ${ARGN})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS $<TARGET_FILE:${needed}>)
  endforeach()
endfunction()
