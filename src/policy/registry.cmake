# Every file in impl/ is a policy: names its entry function after it and writes the registry that calls them all.
file(GLOB policies CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/policy/impl/*.cc ${WM_POLICIES})
set(declarations "")
set(calls "")
set(batch "// Written by src/policy/registry.cmake.\n")
foreach(file ${policies})
  get_filename_component(name ${file} NAME_WE)
  if(WM_UNITY_BUILD AND NOT file IN_LIST WM_POLICIES)  # CMake's own batches leave out sources with definitions
    set_source_files_properties(${file} PROPERTIES HEADER_FILE_ONLY ON)
    string(APPEND batch "#define WM_POLICY_ENTRY entry_${name}\n#include \"${file}\"\n#undef WM_POLICY_ENTRY\n")
  else()
    set_source_files_properties(${file} PROPERTIES COMPILE_DEFINITIONS WM_POLICY_ENTRY=entry_${name})
  endif()
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
if(WM_UNITY_BUILD)
  set(batch_source ${PROJECT_BINARY_DIR}/generated/policies.cc)
  file(CONFIGURE OUTPUT ${batch_source} CONTENT "${batch}" @ONLY)
  set_source_files_properties(${batch_source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(wm_policy PRIVATE ${batch_source})
endif()
