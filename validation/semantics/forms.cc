#include "forms.h"

namespace wm::semantics {

std::string register_of(const std::string& pool) {
  if (pool == "pred" || pool == "carry") return pool;
  if (pool == "f64" || pool == "smallf64" || pool == "b64" || pool == "u64" || pool == "s64") return "b64";
  if (pool == "f16" || pool == "bf16" || pool == "b16" || pool == "u16" || pool == "s16" || pool == "f8x2")
    return "b16";
  return "b32";
}

Form form(const std::string& name, const std::string& destination, const std::vector<std::string>& sources,
          Check check) {
  Form result{name, "d0", {{register_of(destination), destination}}, {}, check};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    result.operands += ", s" + std::to_string(i);
    result.sources.push_back({register_of(sources[i]), sources[i]});
  }
  return result;
}

std::vector<Form> all_forms() {
  std::vector<Form> forms;
  add_integer_forms(forms);
  add_bit_forms(forms);
  add_float_forms(forms);
  add_half_forms(forms);
  add_compare_forms(forms);
  add_convert_forms(forms);
  add_matrix_forms(forms);
  return forms;
}

}  // namespace wm::semantics
