// mma: fragments of a matrix spread over a warp. PTX does not define the bits of a sum, but the hardware's are known
// (src/exec/lane/mma.cc), so they are held to.
#include "forms.h"

namespace wm::semantics {

namespace {

// Counts of registers a lane holds of d, a, b and c.
struct Counts {
  std::size_t d, a, b, c;
};

std::string group(char letter, std::size_t from, std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + (letter + std::to_string(from + i));
  return text + "}";
}

void add(std::vector<Form>& forms, const std::string& shape, const std::string& types, const std::string& inputs,
         const std::string& sums, Counts counts) {
  Form result;
  result.name = "mma.sync.aligned." + shape + "." + types;
  result.operands = group('d', 0, counts.d) + ", " + group('s', 0, counts.a) + ", " + group('s', counts.a, counts.b) +
                    ", " + group('s', counts.a + counts.b, counts.c);
  result.destinations.assign(counts.d, {register_of(sums), sums});
  result.sources.assign(counts.a + counts.b, {register_of(inputs), inputs});
  result.sources.insert(result.sources.end(), counts.c, {register_of(sums), sums});
  forms.push_back(result);
}

// A sparse product: the metadata and the number of the lanes that hold them come last.
void add_sparse(std::vector<Form>& forms, const std::string& shape, const std::string& types, const std::string& inputs,
                const std::string& sums, Counts counts, std::size_t selectors) {
  for (const char* variant : {"sp", "sp::ordered_metadata"})
    for (std::size_t selector = 0; selector < selectors; ++selector) {
      add(forms, shape + ".row.col", types, inputs, sums, counts);
      Form& form = forms.back();
      form.name.replace(0, 3, std::string("mma.") + variant);
      form.operands += ", s" + std::to_string(form.sources.size()) + ", " + std::to_string(selector);
      form.sources.push_back({"b32", types.find("tf32") == std::string::npos ? "metadata" : "metadata2"});
    }
}

void add_sparse_forms(std::vector<Form>& forms) {
  add_sparse(forms, "m16n8k16", "f32.f16.f16.f32", "smallf16x2", "smallf32", {4, 2, 2, 4}, 4);
  add_sparse(forms, "m16n8k16", "f16.f16.f16.f16", "smallf16x2", "smallf16x2", {2, 2, 2, 2}, 4);
  add_sparse(forms, "m16n8k16", "f32.bf16.bf16.f32", "smallbf16x2", "smallf32", {4, 2, 2, 4}, 4);
  add_sparse(forms, "m16n8k32", "f32.f16.f16.f32", "smallf16x2", "smallf32", {4, 4, 4, 4}, 2);
  add_sparse(forms, "m16n8k32", "f16.f16.f16.f16", "smallf16x2", "smallf16x2", {2, 4, 4, 2}, 2);
  add_sparse(forms, "m16n8k32", "f32.bf16.bf16.f32", "smallbf16x2", "smallf32", {4, 4, 4, 4}, 2);
  add_sparse(forms, "m16n8k8", "f32.tf32.tf32.f32", "smallf32", "smallf32", {4, 2, 2, 4}, 4);
  add_sparse(forms, "m16n8k16", "f32.tf32.tf32.f32", "smallf32", "smallf32", {4, 4, 4, 4}, 2);
  for (const char* bits : {"8", "4"})
    for (const char* a : {"u", "s"})
      for (const char* b : {"u", "s"}) {
        const std::string types = std::string("s32.") + a + bits + "." + b + bits + ".s32";
        const bool eight = bits[0] == '8';
        add_sparse(forms, eight ? "m16n8k32" : "m16n8k64", types, "b32", "s32", {4, 2, 2, 4}, 2);
        add_sparse(forms, eight ? "m16n8k64" : "m16n8k128", types, "b32", "s32", {4, 4, 4, 4}, 1);
      }
}

// Integers of four bits, bits and doubles of sixteen rows.
void add_other_shapes(std::vector<Form>& forms) {
  for (const char* a : {"u4", "s4"})
    for (const char* b : {"u4", "s4"}) {
      const std::string types = std::string("s32.") + a + "." + b + ".s32";
      add(forms, "m8n8k32.row.col", types, "b32", "s32", {2, 1, 1, 2});
      add(forms, "m16n8k32.row.col.satfinite", types, "b32", "s32", {4, 2, 1, 4});
      add(forms, "m16n8k64.row.col", types, "b32", "s32", {4, 4, 2, 4});
    }
  for (const char* join : {"and", "xor"}) {
    const std::string types = std::string("s32.b1.b1.s32.") + join + ".popc";
    add(forms, "m8n8k128.row.col", types, "b32", "s32", {2, 1, 1, 2});
    add(forms, "m16n8k128.row.col", types, "b32", "s32", {4, 2, 1, 4});
    add(forms, "m16n8k256.row.col", types, "b32", "s32", {4, 4, 2, 4});
  }
  add(forms, "m16n8k4.row.col", "f64.f64.f64.f64", "smallf64", "smallf64", {4, 2, 1, 4});
  add(forms, "m16n8k8.row.col", "f64.f64.f64.f64", "smallf64", "smallf64", {4, 4, 2, 4});
  add(forms, "m16n8k16.row.col", "f64.f64.f64.f64", "smallf64", "smallf64", {4, 8, 4, 4});
}

}  // namespace

void add_matrix_forms(std::vector<Form>& forms) {
  add(forms, "m16n8k16.row.col", "f32.f16.f16.f32", "smallf16x2", "smallf32", {4, 4, 2, 4});
  add(forms, "m16n8k16.row.col", "f16.f16.f16.f16", "smallf16x2", "smallf16x2", {2, 4, 2, 2});
  add(forms, "m16n8k16.row.col", "f32.bf16.bf16.f32", "smallbf16x2", "smallf32", {4, 4, 2, 4});
  add(forms, "m16n8k8.row.col", "f32.f16.f16.f32", "smallf16x2", "smallf32", {4, 2, 1, 4});
  add(forms, "m16n8k8.row.col", "f16.f16.f16.f16", "smallf16x2", "smallf16x2", {2, 2, 1, 2});
  add(forms, "m16n8k8.row.col", "f32.bf16.bf16.f32", "smallbf16x2", "smallf32", {4, 2, 1, 4});
  add(forms, "m16n8k8.row.col", "f32.tf32.tf32.f32", "smallf32", "smallf32", {4, 4, 2, 4});
  add(forms, "m16n8k4.row.col", "f32.tf32.tf32.f32", "smallf32", "smallf32", {4, 2, 1, 4});
  for (const char* a : {"row", "col"})
    for (const char* b : {"row", "col"}) {
      const std::string shape = std::string("m8n8k4.") + a + "." + b;
      add(forms, shape, "f32.f16.f16.f32", "smallf16x2", "smallf32", {8, 2, 2, 8});
      add(forms, shape, "f16.f16.f16.f16", "smallf16x2", "smallf16x2", {4, 2, 2, 4});
    }
  add(forms, "m8n8k4.row.col", "f64.f64.f64.f64", "smallf64", "smallf64", {2, 1, 1, 2});
  for (const char* a : {"u8", "s8"})
    for (const char* b : {"u8", "s8"})
      for (const char* sat : {"", ".satfinite"}) {
        const std::string types = std::string("s32.") + a + "." + b + ".s32";
        const std::string column = std::string(".row.col") + sat;
        add(forms, "m8n8k16" + column, types, "b32", "s32", {2, 1, 1, 2});
        add(forms, "m16n8k16" + column, types, "b32", "s32", {4, 2, 1, 4});
        add(forms, "m16n8k32" + column, types, "b32", "s32", {4, 4, 2, 4});
      }
  add_other_shapes(forms);
  add_sparse_forms(forms);
}

}  // namespace wm::semantics
