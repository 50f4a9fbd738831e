# Writes digests of the sources that simulation results depend on into a C++ file, which the lab puts into result keys.
#
# When included, this file adds the generated source to wm_lab; run as a script (-DROOT= -DOUT=) it writes that source,
# which changes only when a digest changes.
set(version_modules src/base src/gpu src/ptx src/exec src/sim/cycle src/policy)
# The block machine's results depend on its applications and systems too.
set(block_modules src/base src/gpu src/policy src/sim/block)
set(block_data configs/apps configs/systems)

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(version_sources "")
  foreach(module ${version_modules} src/sim/block)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${module}/*.cc ${PROJECT_SOURCE_DIR}/${module}/*.h
         ${PROJECT_SOURCE_DIR}/${module}/*.def)
    list(APPEND version_sources ${files})
  endforeach()
  foreach(folder ${block_data})
    file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.yaml)
    list(APPEND version_sources ${files})
  endforeach()
  set(version_file ${PROJECT_BINARY_DIR}/generated/source_digests.cc)
  add_custom_command(OUTPUT ${version_file}
                     COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUT=${version_file}
                             -P ${CMAKE_CURRENT_LIST_FILE}
                     DEPENDS ${version_sources} ${CMAKE_CURRENT_LIST_FILE} COMMENT "Computing source digests")
  target_sources(wm_lab PRIVATE ${version_file})
  return()
endif()

# Sets `out` to 16 hexadecimal digits of a hash over the files' paths and contents.
function(digest out)
  set(listing "")
  foreach(path ${ARGN})
    file(SHA256 ${ROOT}/${path} hash)
    string(APPEND listing "${path} ${hash}\n")
  endforeach()
  string(SHA256 hash "${listing}")
  string(SUBSTRING ${hash} 0 16 hash)
  set(${out} ${hash} PARENT_SCOPE)
endfunction()

# Sets `out` to the policy's file and the algorithms that it includes, also through each other.
function(sources_of out policy)
  set(found "")
  set(open ${policy})
  while(open)
    list(POP_FRONT open path)
    list(FIND found ${path} at)
    if(NOT at EQUAL -1)
      continue()
    endif()
    list(APPEND found ${path})
    file(STRINGS ${ROOT}/${path} includes REGEX "^#include \"policy/algorithm/")
    foreach(include ${includes})
      string(REGEX REPLACE ".*\"(policy/algorithm/[a-z_]+)\\.h\".*" "src/\\1" stem "${include}")
      list(APPEND open ${stem}.h)
      if(EXISTS ${ROOT}/${stem}.cc)
        list(APPEND open ${stem}.cc)
      endif()
    endforeach()
  endwhile()
  list(SORT found)
  set(${out} ${found} PARENT_SCOPE)
endfunction()

set(machine "")
foreach(module ${version_modules})
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${module}/*.cc ${ROOT}/${module}/*.h ${ROOT}/${module}/*.def)
  list(APPEND machine ${files})
endforeach()
list(SORT machine)
file(GLOB policies RELATIVE ${ROOT} ${ROOT}/src/policy/impl/*.cc)
# logged_policy.h writes decisions down and takes none, and host threads change no bit of a result.
list(FILTER machine EXCLUDE REGEX "^src/(policy/(impl/|algorithm/|logged_policy)|sim/cycle/host_threads)")
digest(hash ${machine} src/policy/impl/left_over.cc)
set(lines "machine ${hash}\\n")
set(block "")
foreach(module ${block_modules})
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${module}/*.cc ${ROOT}/${module}/*.h)
  list(APPEND block ${files})
endforeach()
foreach(folder ${block_data})
  file(GLOB files RELATIVE ${ROOT} ${ROOT}/${folder}/*.yaml)
  list(APPEND block ${files})
endforeach()
list(SORT block)
list(FILTER block EXCLUDE REGEX "^src/policy/(impl/|algorithm/|logged_policy)")
digest(hash ${block} src/policy/impl/left_over.cc)
string(APPEND lines "block ${hash}\\n")
foreach(file ${policies})
  get_filename_component(name ${file} NAME_WE)
  sources_of(sources ${file})
  digest(hash ${sources})
  string(APPEND lines "${name} ${hash}\\n")
endforeach()
file(CONFIGURE OUTPUT ${OUT} CONTENT [[
// Written by cmake/CodeVersion.cmake.
namespace wm::lab {

extern const char* const kSourceDigests;
const char* const kSourceDigests = "@lines@";

}  // namespace wm::lab
]] @ONLY)
