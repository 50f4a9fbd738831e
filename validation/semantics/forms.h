// Every form of every register-only instruction, as one table: the generator makes a kernel of each for a real GPU, the
// tests run each through the executor, against an independent reference and against the results of the GPU.
#pragma once

#include <string>
#include <vector>

namespace wm::semantics {

// A register of an instruction: its type, and which pool its inputs come from where that is not the type's own.
// Type "carry" is the condition code: as a source it is set before, as a destination it is read after.
struct Place {
  std::string type;  // b16, b32, b64, pred, carry
  std::string pool;  // f32, s16x2, shift, …
};

enum class Check {
  exact,        // the bits are defined
  approximate,  // PTX gives an error bound
};

struct Form {
  std::string name;      // "setp.lt.and.f32"
  std::string operands;  // "d0|d1, s0, s1, s2": d and s count the places below
  std::vector<Place> destinations;
  std::vector<Place> sources;
  Check check = Check::exact;
};

// In a fixed order; a form's inputs depend only on its name, so the table can grow anywhere.
std::vector<Form> all_forms();

// The families all_forms is made of.
void add_integer_forms(std::vector<Form>& forms);
void add_bit_forms(std::vector<Form>& forms);
void add_float_forms(std::vector<Form>& forms);
void add_half_forms(std::vector<Form>& forms);
void add_compare_forms(std::vector<Form>& forms);
void add_convert_forms(std::vector<Form>& forms);
void add_matrix_forms(std::vector<Form>& forms);

// The register a value of `pool` is held in: "f32" in b32.
std::string register_of(const std::string& pool);

// `name` with one destination and sources of these pools, in order.
Form form(const std::string& name, const std::string& destination, const std::vector<std::string>& sources,
          Check check = Check::exact);

}  // namespace wm::semantics
