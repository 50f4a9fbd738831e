# Interchangeable parts of the simulated GPU: every header of a folder defines one, named as its file (two_level.h: TwoLevel).
# Writes, for each kind, a header with a std::variant of all of them and a function that makes one by its name; and the
# names for the loader of GPU descriptions. The hot loops then need no virtual call, and a new part is one file.
set(WM_COMPONENTS_DIR ${PROJECT_BINARY_DIR}/generated/components)
set(component_names "")

# wm_components(KIND FOLDER NAMESPACE TYPE LIST): KIND in the singular (warp_scheduler), FOLDER below src/sim/cycle, TYPE the
# name of the variant, LIST the constant with the names.
function(wm_components kind folder namespace type list)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/sim/cycle/${folder}/*.h)
  set(includes "")
  set(types "")
  set(makes "")
  set(names "")
  foreach(header ${headers})
    get_filename_component(name ${header} NAME_WE)
    string(REPLACE "_" ";" parts ${name})
    set(class "")
    foreach(part ${parts})
      string(SUBSTRING ${part} 0 1 first)
      string(SUBSTRING ${part} 1 -1 rest)
      string(TOUPPER ${first} first)
      string(APPEND class ${first}${rest})
    endforeach()
    string(APPEND includes "#include \"sim/cycle/${folder}/${name}.h\"\n")
    list(APPEND types "${namespace}::${class}")
    list(APPEND names "\"${name}\"")
    string(APPEND makes "  if (name == \"${name}\") return ${namespace}::${class}{};\n")
  endforeach()
  list(LENGTH names count)
  list(JOIN types ", " types)
  list(JOIN names ", " names)
  file(CONFIGURE OUTPUT ${WM_COMPONENTS_DIR}/${kind}s.h CONTENT [[
// Written by src/sim/cycle/components.cmake.
#pragma once

#include <string_view>
#include <variant>

@includes@
namespace wm::sim {

using @type@ = std::variant<@types@>;

// The name is one of those that a GPU description may use; another one gives the first.
inline @type@ make_@kind@(std::string_view name) {
@makes@  return @type@{std::in_place_index<0>};
}

}  // namespace wm::sim
]] @ONLY)
  string(APPEND component_names "inline constexpr std::array<std::string_view, ${count}> ${list}{${names}};\n")
  set(component_names "${component_names}" PARENT_SCOPE)
endfunction()

wm_components(warp_scheduler sm/schedulers schedulers AnyWarpScheduler kWarpSchedulers)
wm_components(dram_scheduler dram/schedulers dram_schedulers AnyDramScheduler kDramSchedulers)
wm_components(replacement_rule memory/replacement replacement AnyReplacementRule kReplacementRules)
file(CONFIGURE OUTPUT ${WM_COMPONENTS_DIR}/names.h CONTENT [[
// Written by src/sim/cycle/components.cmake.
#pragma once

#include <array>
#include <string_view>

namespace wm::components {

@component_names@
}  // namespace wm::components
]] @ONLY)
