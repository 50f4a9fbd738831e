# Writes the version and the commit into a C++ file for `wm --version`.
#
# When included, this file adds the generated source to the library wm_cli; run as a script (-DROOT= -DOUT= -DVERSION=) it
# writes that source. The script runs in every build and changes the file only when the commit changes.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(commit_source ${PROJECT_BINARY_DIR}/generated/version.cc)
  add_custom_target(version BYPRODUCTS ${commit_source}
                    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUT=${commit_source} -DVERSION=${PROJECT_VERSION}
                            -P ${CMAKE_CURRENT_LIST_FILE}
                    COMMENT "Looking up the commit")
  set_source_files_properties(${commit_source} PROPERTIES GENERATED ON SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(wm_cli PRIVATE ${commit_source})
  add_dependencies(wm_cli version)
  return()
endif()

set(commit "")
if(EXISTS ${ROOT}/.git)
  execute_process(COMMAND git -C ${ROOT} describe --always --dirty --abbrev=10 --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(text "wm ${VERSION}")
if(commit)
  string(APPEND text " (${commit})")
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT [[
// Written by cmake/Version.cmake.
#include "cli/commands/version.h"

namespace wm::cli {

std::string version() { return "@text@"; }

}  // namespace wm::cli
]] @ONLY)
