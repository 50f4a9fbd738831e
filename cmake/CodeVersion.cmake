# Digests of the sources that results depend on, as a C++ file for src/lab/code_version.cc.
#
# Included, it adds the file to wm_lab; as a script (-DROOT= -DOUT=) it writes it. The file changes only when a digest does.
set(version_rooms src/base src/gpu src/ptx src/exec src/sim/cycle src/policy)

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(version_sources "")
  foreach(room ${version_rooms})
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${room}/*.cc ${PROJECT_SOURCE_DIR}/${room}/*.h
         ${PROJECT_SOURCE_DIR}/${room}/*.def)
    list(APPEND version_sources ${files})
  endforeach()
  set(version_file ${PROJECT_BINARY_DIR}/generated/source_digests.cc)
  add_custom_command(OUTPUT ${version_file}
                     COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUT=${version_file}
                             -P ${CMAKE_CURRENT_LIST_FILE}
                     DEPENDS ${version_sources} ${CMAKE_CURRENT_LIST_FILE} COMMENT "Naming the code's version")
  target_sources(wm_lab PRIVATE ${version_file})
  return()
endif()

# Sets `out` to 16 digits that name the files' paths and contents.
function(digest out)
  set(all "")
  foreach(path ${ARGN})
    file(SHA256 ${ROOT}/${path} hash)
    string(APPEND all "${path} ${hash}\n")
  endforeach()
  string(SHA256 hash "${all}")
  string(SUBSTRING ${hash} 0 16 hash)
  set(${out} ${hash} PARENT_SCOPE)
endfunction()

set(machine "")
foreach(room ${version_rooms})
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${room}/*.cc ${ROOT}/${room}/*.h ${ROOT}/${room}/*.def)
  list(APPEND machine ${files})
endforeach()
list(SORT machine)
set(algorithms ${machine})
list(FILTER algorithms INCLUDE REGEX "^src/policy/algorithm/")
file(GLOB policies RELATIVE ${ROOT} ${ROOT}/src/policy/impl/*.cc)
list(FILTER machine EXCLUDE REGEX "^src/policy/(impl|algorithm)/")
digest(hash ${machine} src/policy/impl/left_over.cc)
set(lines "machine ${hash}\\n")
foreach(file ${policies})
  get_filename_component(name ${file} NAME_WE)
  digest(hash ${file} ${algorithms})
  string(APPEND lines "${name} ${hash}\\n")
endforeach()
file(CONFIGURE OUTPUT ${OUT} CONTENT [[
// Written by cmake/CodeVersion.cmake.
namespace wm::lab {

extern const char* const kSourceDigests;
const char* const kSourceDigests = "@lines@";

}  // namespace wm::lab
]] @ONLY)
