# Every file in impl/ is a policy: names its entry function after it and writes the registry that calls them all.
file(GLOB policies CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/policy/impl/*.cc ${WM_POLICIES})
set(declarations "")
set(calls "")
foreach(file ${policies})
  get_filename_component(name ${file} NAME_WE)
  set_source_files_properties(${file} PROPERTIES COMPILE_DEFINITIONS WM_POLICY_ENTRY=entry_${name})
  string(APPEND declarations "Entry entry_${name}();\n")
  string(APPEND calls "  all.push_back(entry_${name}());\n")
endforeach()
set(registry ${PROJECT_BINARY_DIR}/generated/policy_registry.cc)
file(CONFIGURE OUTPUT ${registry} CONTENT [[
// Written by src/policy/registry.cmake.
#include <vector>

#include "policy/policy.h"

namespace wm::policy {

@declarations@
std::vector<Entry> generated_entries();
std::vector<Entry> generated_entries() {
  std::vector<Entry> all;
@calls@  return all;
}

}  // namespace wm::policy
]] @ONLY)
target_sources(wm_policy PRIVATE ${registry} ${WM_POLICIES})
