# Writes digests of the sources that simulation results depend on into a C++ file, which the lab puts into result keys.
#
# When included, this file adds the generated source to wm_lab; run as a script (-DROOT= -DOUT=) it writes that source,
# which changes only when a digest changes.
set(version_modules src/base src/gpu src/ptx src/exec src/sim src/policy)
# The block machine's results depend on its applications and systems too.
set(block_data configs/apps configs/systems)

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(version_sources "")
  foreach(module ${version_modules})
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

cmake_policy(VERSION 3.18)

# Sets `out` to 16 hexadecimal digits of a hash over the files' paths and contents. Comments and white space of C++ do not
# count: rewording or reformatting changes no result.
function(digest out)
  set(listing "")
  foreach(path ${ARGN})
    file(READ ${ROOT}/${path} text)
    if(NOT path MATCHES "\\.yaml$")
      string(REGEX REPLACE "(^|[ \t\n])//[^\n]*" "" text "${text}")
      string(REGEX REPLACE "[ \t\r\n]+" " " text "${text}")
    endif()
    string(SHA256 hash "${text}")
    string(APPEND listing "${path} ${hash}\n")
  endforeach()
  string(SHA256 hash "${listing}")
  string(SUBSTRING ${hash} 0 16 hash)
  set(${out} ${hash} PARENT_SCOPE)
endfunction()

# Sets `out` to the given sources and those that they include from folders that match `folders`, also through each other. A
# header brings the source of the same name.
function(closure out folders)
  set(found "")
  set(open ${ARGN})
  while(open)
    list(POP_FRONT open path)
    if(path IN_LIST found)
      continue()
    endif()
    list(APPEND found ${path})
    file(STRINGS ${ROOT}/${path} includes REGEX "^#include \"${folders}/[^\"]*\"")
    foreach(include ${includes})
      string(REGEX REPLACE "^#include \"([^\"]*)\".*" "src/\\1" header "${include}")
      string(REGEX REPLACE "\\.h$" ".cc" source "${header}")
      foreach(file ${header} ${source})
        if(EXISTS ${ROOT}/${file})
          list(APPEND open ${file})
        endif()
      endforeach()
    endforeach()
  endwhile()
  list(SORT found)
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# Sets `out` to the sources in the folders `ARGN` and what they include of src/base, with the policy of isolated runs and
# without what changes no bit of a result: logged_policy.h writes decisions down and takes none, and so do host threads.
function(machine_sources out)
  set(roots "")
  foreach(module ${ARGN})
    file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${module}/*.cc ${ROOT}/${module}/*.h ${ROOT}/${module}/*.def)
    list(APPEND roots ${files})
  endforeach()
  list(FILTER roots EXCLUDE REGEX "^src/(policy/(impl/|algorithm/|logged_policy)|sim/cycle/host_threads)")
  closure(found "base" ${roots} src/policy/impl/left_over.cc)
  set(${out} ${found} PARENT_SCOPE)
endfunction()

machine_sources(machine src/sim/cycle src/exec src/ptx src/gpu src/policy)
digest(hash ${machine})
set(lines "machine ${hash}\\n")
machine_sources(block src/sim/block src/gpu src/policy)
foreach(folder ${block_data})
  file(GLOB files RELATIVE ${ROOT} ${ROOT}/${folder}/*.yaml)
  list(SORT files)
  list(APPEND block ${files})
endforeach()
digest(hash ${block})
string(APPEND lines "block ${hash}\\n")
file(GLOB policies RELATIVE ${ROOT} ${ROOT}/src/policy/impl/*.cc)
foreach(file ${policies})
  get_filename_component(name ${file} NAME_WE)
  closure(sources "policy/algorithm" ${file})
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
