// Decides which kernels become persistent workers, and what each function must be given for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rewrite/worker/facts.h"

namespace wm::rewrite {

// The numbers of a virtual group that a function needs, of its own queries and of what it calls.
class Needs {
 public:
  // Group id, number of groups and offset in three dimensions, the dimensions, a word of local memory to write after
  // barriers.
  static constexpr unsigned kKinds = 11;
  static Needs group(unsigned d) { return Needs(1U << d); }
  static Needs count(unsigned d) { return Needs(1U << (3 + d)); }
  static Needs offset(unsigned d) { return Needs(1U << (6 + d)); }
  static Needs dimensions() { return Needs(1U << 9); }
  static Needs mark() { return Needs(1U << 10); }
  // A second text of the function, without a parameter.
  static Needs computed_dimension() { return Needs(1U << kKinds); }
  static Needs of(const QuerySite& site);

  constexpr Needs() = default;
  Needs& operator|=(Needs other) { return bits_ |= other.bits_, *this; }
  [[nodiscard]] bool has(unsigned kind) const { return (bits_ >> kind & 1) != 0; }
  [[nodiscard]] bool has_mark() const { return has(10); }
  [[nodiscard]] bool none() const { return bits_ == 0; }

 private:
  explicit constexpr Needs(unsigned bits) : bits_(bits) {}
  unsigned bits_ = 0;
};

struct LocalId {
  std::size_t function = 0;
  std::size_t local = 0;
  friend bool operator==(const LocalId&, const LocalId&) = default;
};

struct FunctionPlan {
  Needs needs;
  std::vector<LocalId> locals;  // hoisted variables it and the kernels it calls use
  std::uint32_t instructions = 0;
  bool threaded = false;   // its text in the new program takes the ids as arguments
  bool original = true;    // its text stays as it was, too or instead
  bool rewritten = false;  // a kernel with a scheduling kernel
  std::string reason;      // why a kernel is not
};

using Plan = std::vector<FunctionPlan>;  // beside Facts::functions

Plan make_plan(const Facts& facts);

// Words of local memory that a scheduling kernel adds: group and chunk, and those of the stores beside barriers.
std::uint32_t scheduling_words(const FunctionPlan& kernel);

// Virtual groups a worker takes at once: 8, 6, 4, 2 or 1 for kernels below 10, 20, 30, 40 instructions and the rest.
std::uint32_t chunk_for(std::uint32_t instructions);

}  // namespace wm::rewrite
