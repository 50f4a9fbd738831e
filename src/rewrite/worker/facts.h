// Facts about a program taken from the syntax tree, in offsets of its preprocessed text. The plan and the new text are
// made from these facts without clang.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rewrite/program.h"

namespace wm::rewrite {

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The work-item functions whose answer is a virtual group's, not the worker's, and those of the local range, which are
// replaced where their dimension is computed.
enum class Query {
  group_id,
  num_groups,
  global_id,
  global_size,
  global_offset,
  work_dim,
  global_linear_id,
  local_id,
  local_size
};

inline bool is_local(Query query) { return query == Query::local_id || query == Query::local_size; }

struct QuerySite {
  Query query = Query::global_id;
  Span call;                          // get_global_id(0)
  Span name;                          // get_global_id
  std::size_t close = 0;              // its closing parenthesis
  std::optional<unsigned> dimension;  // where it is a constant
};

// A call of another function of the program.
struct CallSite {
  std::size_t callee = 0;  // in Facts::functions
  Span name;
  std::size_t close = 0;
  bool has_arguments = false;
};

// A variable in local memory that a kernel declares. `declaration` and `parameter` carry the name it has when hoisted.
struct LocalVariable {
  std::string hoisted;      // wm__local_k_tile
  std::string declaration;  // __local float wm__local_k_tile[8][16] __attribute__((aligned(16)))
  std::string parameter;    // __local float (*wm__local_k_tile)[8][16]
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;
  Span statement;  // its declaration with the semicolon; several variables may share it
  std::vector<Span> uses;
};

// One declaration or the definition of a function.
struct Declaration {
  Span extent;  // to the semicolon or the closing brace, inclusive
  Span name;
  std::size_t open = 0;  // the parentheses around its parameters
  std::size_t close = 0;
  bool no_parameters = false;      // () or (void)
  std::vector<Span> kernel_words;  // `kernel` and attributes: what a plain function must not carry
  std::size_t body = 0;            // the opening brace, in a definition
  bool definition = false;
};

// Text that a rewritten function has at an offset of the original's.
struct Insertion {
  std::size_t at = 0;
  std::string text;
};

// Words of local memory for the stores beside barriers: one for those that follow a barrier, the others for branches.
inline constexpr unsigned kMarkWords = 32;

struct Function {
  std::string name;
  bool kernel = false;
  bool internal = false;                  // static
  std::vector<Declaration> declarations;  // in the order of the text
  std::vector<QuerySite> queries;
  std::vector<CallSite> calls;
  std::vector<LocalVariable> locals;
  std::vector<Span> barriers;           // calls
  std::vector<Insertion> marks;         // stores that keep branches with barriers apart, in the order of insertion
  std::vector<std::string> parameters;  // names
  std::vector<std::string> reasons;     // why a kernel that gets here cannot be rewritten
  std::uint32_t instructions = 0;       // its own

  // Kernels only.
  std::vector<ArgumentInfo> arguments;
  std::string attributes;

  [[nodiscard]] bool defined() const {
    for (const Declaration& d : declarations) {
      if (d.definition) return true;
    }
    return false;
  }
};

struct Facts {
  std::string text;
  std::vector<Function> functions;
};

}  // namespace wm::rewrite
