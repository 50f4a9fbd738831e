# Every file in placement/ is a placement rule: names its entry function after it and writes the list that calls them all.
file(GLOB rules CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/sim/block/cluster/placement/*.cc)
set(declarations "")
set(calls "")
foreach(file ${rules})
  get_filename_component(name ${file} NAME_WE)
  set_source_files_properties(${file} PROPERTIES COMPILE_DEFINITIONS WM_PLACEMENT_ENTRY=placement_${name})
  string(APPEND declarations "PlacementEntry placement_${name}();\n")
  string(APPEND calls "  all.push_back(placement_${name}());\n")
endforeach()
set(placement_list ${PROJECT_BINARY_DIR}/generated/placements.cc)
file(CONFIGURE OUTPUT ${placement_list} CONTENT [[
// Written by src/sim/block/cluster/placements.cmake.
#include "sim/block/cluster/placement.h"

namespace wm::sim {

@declarations@
std::vector<PlacementEntry> generated_placements();
std::vector<PlacementEntry> generated_placements() {
  std::vector<PlacementEntry> all;
@calls@  return all;
}

}  // namespace wm::sim
]] @ONLY)
target_sources(wm_sim_block PRIVATE ${placement_list})
