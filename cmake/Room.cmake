# wm_together(TARGET): an optimised build compiles the target's sources some at a time as one: what they include, and the
# templates they share, are then compiled once. Names in their unnamed namespaces must differ. -DWM_TOGETHER=OFF, and every
# other build, compiles each by itself, which is quicker after a change in one of them.
function(wm_together target)
  if(WM_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    # A source that is included is taken for a header, whose types should not hold unnamed ones.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# wm_read_once(TARGET headers…): what most sources of the target include, and the given headers, are read only once, where
# they are not compiled as one anyway; in many sources reading takes longer than compiling.
function(wm_read_once target)
  get_target_property(together ${target} UNITY_BUILD)
  if(together)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE <algorithm> <map> <memory> <string> <vector> ${ARGN})
  target_compile_options(${target} PRIVATE  # gcc 12 sees ghosts in strings that were read that way
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
endfunction()

# wm_room(NAME TOGETHER LINK libs…): the static library wm_NAME from every .cc below src/NAME. New files need no edit here.
# The library of a room in a folder, sim/cycle, is wm_sim_cycle. TOGETHER: as
# wm_together has it.
function(wm_room name)
  string(REPLACE / _ library wm_${name})
  cmake_parse_arguments(ROOM "TOGETHER" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  if(sources)
    add_library(${library} STATIC ${sources})
    target_include_directories(${library} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${library} PUBLIC ${ROOM_LINK})
    if(ROOM_TOGETHER)
      wm_together(${library})
    endif()
    wm_read_once(${library} <fmt/format.h>)
  else()  # headers alone
    add_library(${library} INTERFACE)
    target_include_directories(${library} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${library} INTERFACE ${ROOM_LINK})
  endif()
endfunction()

# One run of the program for each suite in its sources instead of each test: where starting it costs more than most tests.
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
    set_tests_properties(${name}/${suite} PROPERTIES LABELS ${name} TIMEOUT 600)
  endforeach()
endfunction()

# wm_tests(NAME [BY_SUITE] LINK libs… READ headers…): the test program test_NAME from every .cc below tests/NAME, its tests known to
# ctest. READ: headers that most of them include.
function(wm_tests name)
  string(REPLACE / _ program test_${name})
  cmake_parse_arguments(SUITE "BY_SUITE" "" "LINK;READ" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(${program} ${sources})
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${program} PRIVATE WM_SOURCE_DIR="${PROJECT_SOURCE_DIR}" WM_BINARY_DIR="${PROJECT_BINARY_DIR}")
  # The rooms are optimised; optimising the assertions around them would only make the build slower.
  target_compile_options(${program} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(${program} PRIVATE ${SUITE_LINK} GTest::gtest_main GTest::gmock)
  wm_together(${program})
  wm_read_once(${program} <gtest/gtest.h> <gmock/gmock.h> ${SUITE_READ})
  # Tests of a suite named Long… take more than a few seconds; ./wm test leaves them out (ctest -L long runs them).
  if(SUITE_BY_SUITE)
    wm_run_by_suite(${name} ${program} ${sources})
  else()
    gtest_discover_tests(${program} TEST_FILTER -Long*:*/Long* DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${name} TIMEOUT 300)
  endif()
  gtest_discover_tests(${program} TEST_LIST ${program}_LONG TEST_FILTER Long*:*/Long* DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS long TIMEOUT 1800)
endfunction()
