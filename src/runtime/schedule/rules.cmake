# Admission rules: every header of src/runtime/schedule/rules defines one, named as its file (short_launches.h:
# ShortLaunches). Writes the function that makes all active ones, so that a new rule is one file.
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/runtime/schedule/rules/*.h)
set(includes "")
set(makes "")
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
  string(APPEND includes "#include \"runtime/schedule/rules/${name}.h\"\n")
  string(APPEND makes "  if (auto rule = ${class}::make(options, device, clock)) rules.push_back(std::move(rule));\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/admission_rules.cc CONTENT [[
// Written by src/runtime/schedule/rules.cmake.
#include "runtime/schedule/admission.h"
@includes@
namespace wm::runtime {

AdmissionRules make_admission_rules(const AdmissionOptions& options, const Capabilities& device, const Clock& clock) {
  AdmissionRules rules;
@makes@  return rules;
}

}  // namespace wm::runtime
]] @ONLY)
