// The PTX intermediate representation: a module of variables and functions, a function of instructions.
//
// It keeps the meaning of a program and the spelling of its instructions, not the layout of its text: nested scopes are
// flattened (names made unique), comments and debug sections are gone. Two modules are equal when they print the same.
// Positions in the text (`Position`) are carried for messages and never compared.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ptx/opcode.h"   // enum class Opcode: one per instruction name ("add", "setp", "cp.async", …)
#include "ptx/special.h"  // enum class Special: %tid.x, %laneid, %clock64, …
#include "ptx/suffix.h"   // enum class Suffix: every ".xyz" of an instruction that is not a type
#include "ptx/type.h"

namespace wm::ptx {

// A position in the PTX text. Two positions always compare equal, so that they never decide a comparison of the IR.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend constexpr bool operator==(const Position&, const Position&) { return true; }
};

// A position in the source that the PTX was compiled from (.loc). `file` indexes Module::files; line 0 means unknown.
struct SourceLine {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend constexpr bool operator==(const SourceLine&, const SourceLine&) = default;
};

enum class Space : std::uint8_t { generic, reg, constant, global, local, param, shared };

struct Register {
  std::string name;  // "%r1", unique in its function
  Type type = Type::none;
  friend bool operator==(const Register&, const Register&) = default;
};

// One place in a variable's initial value that holds an address: `symbol + addend`, `size` bytes wide, at `offset`.
struct Relocation {
  std::uint64_t offset = 0;
  std::uint32_t size = 8;
  std::string symbol;  // a module variable or function
  std::int64_t addend = 0;
  bool generic = false;  // written generic(symbol)
  friend bool operator==(const Relocation&, const Relocation&) = default;
};

enum class Linkage : std::uint8_t { internal, visible, external, weak, common };

// The members of a `.samplerref` variable's initial value (texmode_independent).
struct SamplerState {
  enum class Address : std::uint8_t { wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border };
  std::array<Address, 3> address{};
  bool filters = false;  // filter_mode = linear
  bool force_unnormalized_coords = false;
  friend bool operator==(const SamplerState&, const SamplerState&) = default;
};

// A variable in memory: global, constant, shared, local, or a parameter.
struct Variable {
  std::string name;
  Space space = Space::global;
  Type type = Type::b8;               // type of one element
  std::uint32_t vector = 1;           // .v2, .v4
  std::uint32_t align = 1;            // in bytes; the type's own where none was written
  std::vector<std::uint64_t> shape;   // {} scalar; {n} one dimension; {0} an array of unknown length (extern shared)
  std::vector<std::uint8_t> initial;  // from the first byte; missing bytes are zero
  std::vector<Relocation> relocations;
  Linkage linkage = Linkage::internal;
  bool managed = false;  // .attribute(.managed): memory that the host can access too
  // For a kernel parameter declared `.ptr`: the space it points into, and the declared alignment.
  bool pointer = false;
  Space pointer_space = Space::generic;
  std::uint32_t pointer_align = 0;
  Type pointee = Type::none;            // .texref, .samplerref or .surfref, where it points to one
  std::optional<SamplerState> sampler;  // the initial value of a .samplerref
  Position position;

  [[nodiscard]] std::uint64_t bytes() const;
  friend bool operator==(const Variable&, const Variable&) = default;
};

// An operand; `kind` determines the fields that are used.
struct Operand {
  enum class Kind : std::uint8_t {
    reg,             // index: Function::registers; negated for !%p; bits: a selection of its bytes, as of vadd4
    integer,         // bits: two's complement, 64 bits
    f32,             // bits: the low 32 bits are the IEEE pattern
    f64,             // bits: the IEEE pattern
    special,         // special
    variable,        // scope, index, offset: the address of a variable (+ offset)
    address,         // [base + offset]; base in elements[0] (reg or variable or integer), offset
    vector,          // {elements…}
    label,           // index: Function::labels
    function,        // index: Module::functions
    branch_targets,  // index: Function::branch_tables, of brx.idx
    call_targets,    // index: Function::call_tables; or a prototype, of an indirect call
    prototype,       // index: Function::prototypes
    arguments,       // ( elements… ) of a call
    pair,            // elements[0] | elements[1]: two destinations, as of setp and shfl
    sink,            // _
    texture,         // [texture, coordinates] or [texture, sampler, coordinates], in elements
  };
  enum class Scope : std::uint8_t { module, parameter, result, local };

  Kind kind = Kind::integer;
  Scope scope = Scope::module;
  bool negated = false;
  Special special{};
  std::uint32_t index = 0;
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  std::vector<Operand> elements;
  friend bool operator==(const Operand&, const Operand&) = default;
};

// @%p or @!%p.
struct Guard {
  bool present = false;
  bool negated = false;
  std::uint32_t reg = 0;  // Function::registers
  friend bool operator==(const Guard&, const Guard&) = default;
};

struct Instruction {
  Opcode opcode{};
  // All that follows the opcode's name, in the order of the ISA's syntax, types apart: for `setp.lt.and.f32` the
  // suffixes are {lt, and_} and the types {f32}. In `prmt.b32.f4e` and in the SIMD video instructions suffixes follow
  // the types.
  std::vector<Suffix> suffixes;
  std::vector<Type> types;
  Guard guard;
  // Destinations first, as written. `ld` and friends: {destination, address}; `st`: {address, source}. A call always
  // has {arguments: its results, target, arguments}, the lists perhaps empty, and a fourth when it is indirect: the
  // prototype or the call targets. A floating-point immediate has the width the instruction works in.
  std::vector<Operand> operands;
  SourceLine source;
  Position position;

  [[nodiscard]] bool has(Suffix s) const;
  [[nodiscard]] Type type() const { return types.empty() ? Type::none : types.front(); }
  // The state space of a memory access: generic where none is written.
  [[nodiscard]] Space space() const;
  // 1, 2 or 4 (8 on newer ISAs): the width of .v2, .v4.
  [[nodiscard]] int vector_width() const;
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

struct Label {
  std::string name;
  std::uint32_t at = 0;  // index into Function::body; body.size() at the end
  friend bool operator==(const Label&, const Label&) = default;
};

// A .branchtargets or .calltargets list, or a .callprototype.
struct BranchTable {
  std::string name;
  std::vector<std::uint32_t> labels;  // Function::labels
  friend bool operator==(const BranchTable&, const BranchTable&) = default;
};
struct CallTable {
  std::string name;
  std::vector<std::uint32_t> functions;  // Module::functions
  friend bool operator==(const CallTable&, const CallTable&) = default;
};
struct Prototype {
  std::string name;
  std::vector<Variable> results;
  std::vector<Variable> parameters;
  bool noreturn = false;
  friend bool operator==(const Prototype&, const Prototype&) = default;
};

struct Pragma {
  std::string text;
  std::uint32_t at = 0;  // before that instruction of the body
  friend bool operator==(const Pragma&, const Pragma&) = default;
};

// A performance directive: {"maxntid", {256, 1, 1}}, {"minnctapersm", {2}}, {"reqntid", {8, 8, 1}}, {"maxnreg", {32}}.
struct Directive {
  std::string name;
  std::vector<std::uint32_t> values;
  friend bool operator==(const Directive&, const Directive&) = default;
};

// Why the body of a function was not read (parse.h, OnUnsupported::refuse_function).
struct Refusal {
  std::string what;
  Position position;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

struct Function {
  std::string name;
  bool entry = false;        // a kernel
  bool declaration = false;  // no body here
  bool noreturn = false;
  Linkage linkage = Linkage::internal;
  // Results and parameters of a device function lie in .param space or in registers (space reg, then the register of
  // the same name is in `registers`).
  std::vector<Variable> results;
  std::vector<Variable> parameters;
  std::vector<Directive> directives;
  std::vector<Register> registers;  // those the body uses, in the order it first names them; register parameters before
  std::vector<Variable> variables;  // local, shared, and the .param of calls
  std::vector<Label> labels;
  std::vector<BranchTable> branch_tables;
  std::vector<CallTable> call_tables;
  std::vector<Prototype> prototypes;
  std::vector<Pragma> pragmas;
  std::vector<Instruction> body;
  std::optional<Refusal> refusal;
  Position position;
  friend bool operator==(const Function&, const Function&) = default;
};

struct Module {
  std::uint32_t version_major = 0;
  std::uint32_t version_minor = 0;
  std::vector<std::string> targets;  // {"sm_90"}, {"sm_75", "texmode_independent"}
  std::uint32_t address_size = 64;
  std::vector<std::string> files;   // by .file index; [0] unused
  std::vector<Variable> variables;  // global, constant, module-scope shared
  std::vector<Function> functions;  // device functions before kernels
  friend bool operator==(const Module&, const Module&) = default;

  [[nodiscard]] const Function* entry(const std::string& name) const;
};

}  // namespace wm::ptx
