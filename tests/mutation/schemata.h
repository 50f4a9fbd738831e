// Mutants that are compiled together and chosen at run time by the environment variable WM_MUTANT.
//
// tests/mutation/run writes calls of these functions into a copy of the sources. A binary operator of the source
// becomes two of the same precedence around a `Choice`, `a < b` becomes `a < Choice<Less>{17} < b`, so that the
// operands need not be found by a parser. In constant expressions no mutant is chosen.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdlib>
#include <fcntl.h>
#include <initializer_list>
#include <sys/mman.h>
#include <type_traits>
#include <unistd.h>

namespace wm_mutation {

// Marks of one byte per mutant, shared by all processes of a test: 1: reached, 2: the mutant does not compile for its
// types.
inline constexpr int kMarks = 1 << 16;

struct State {
  int chosen = 0;
  volatile unsigned char* marks = nullptr;

  State() {
    if (const char* text = std::getenv("WM_MUTANT")) chosen = std::atoi(text);
    const char* path = std::getenv("WM_MUTANT_MARKS");
    const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void* map = mmap(nullptr, kMarks, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (map != MAP_FAILED) marks = static_cast<unsigned char*>(map);
  }
};

inline State& state() {
  static State* the_state = new State;
  return *the_state;
}

inline bool chosen(int id) {
  State& s = state();
  if (s.marks) s.marks[id] = s.marks[id] | 1;
  return s.chosen == id;
}

inline void does_not_compile(int id) {
  State& s = state();
  if (s.marks) s.marks[id] = s.marks[id] | 2;
}

constexpr bool on(int id) {
  if (std::is_constant_evaluated()) return false;
  return chosen(id);
}

// The condition of an `if`.
template <class T>
constexpr bool condition(int id, const T& value) {
  return static_cast<bool>(value) != on(id);
}

// `a && b` becomes `a && after_true(…) || after_false(…) && b`, and so does `a || b`: with the mutant chosen the one
// behaves as the other, and `b` is evaluated only where it is needed.
inline thread_local bool left_was_true = false;

inline bool after_true(int id, bool is_and) {
  const bool ends_as_true = chosen(id) ? is_and : !is_and;
  left_was_true = !ends_as_true;
  return ends_as_true;
}

inline bool after_false(int id, bool is_and) {
  const bool was_true = left_was_true;
  left_was_true = false;
  const bool behaves_as_and = chosen(id) ? !is_and : is_and;
  return behaves_as_and ? was_true : true;
}

template <class Original, class Mutant, class A, class B>
constexpr auto either(int id, const A& a, const B& b) -> decltype(Original{}(a, b)) {
  if constexpr (requires {
                  { Mutant{}(a, b) } -> std::same_as<decltype(Original{}(a, b))>;
                }) {
    if (on(id)) return Mutant{}(a, b);
  } else if (!std::is_constant_evaluated()) {
    does_not_compile(id);
  }
  return Original{}(a, b);
}

template <class Original, class Mutant>
struct Choice {
  int id;
};

template <class Original, class Mutant, class A>
struct Left {
  const A& a;
  int id;
};

#define WM_MUTATION_OPERATION(Name, op)                                                  \
  struct Name {                                                                          \
    template <class A, class B>                                                          \
    constexpr auto operator()(const A& a, const B& b) const -> decltype(a op b) {        \
      return a op b;                                                                     \
    }                                                                                    \
  };                                                                                     \
  template <class A, class Mutant>                                                       \
  constexpr Left<Name, Mutant, A> operator op(const A& a, Choice<Name, Mutant> choice) { \
    return {a, choice.id};                                                               \
  }                                                                                      \
  template <class A, class Mutant, class B>                                              \
  constexpr auto operator op(Left<Name, Mutant, A> left, const B& b) {                   \
    return either<Name, Mutant>(left.id, left.a, b);                                     \
  }
WM_MUTATION_OPERATION(Less, <)
WM_MUTATION_OPERATION(LessEqual, <=)
WM_MUTATION_OPERATION(Greater, >)
WM_MUTATION_OPERATION(GreaterEqual, >=)
WM_MUTATION_OPERATION(Equal, ==)
WM_MUTATION_OPERATION(NotEqual, !=)
WM_MUTATION_OPERATION(Plus, +)
WM_MUTATION_OPERATION(Minus, -)
WM_MUTATION_OPERATION(Times, *)
WM_MUTATION_OPERATION(Divide, /)
WM_MUTATION_OPERATION(Modulo, %)
WM_MUTATION_OPERATION(And, &)
WM_MUTATION_OPERATION(Or, |)
WM_MUTATION_OPERATION(ShiftLeft, <<)
WM_MUTATION_OPERATION(ShiftRight, >>)
#undef WM_MUTATION_OPERATION

// Assignments group from the right: `a += Choice{17} += b` calls the second operator first.
template <class Original, class Mutant, class B>
struct Right {
  const B& b;
  int id;
};

#define WM_MUTATION_ASSIGNMENT(Name, op)                                                  \
  struct Name {                                                                           \
    template <class A, class B>                                                           \
    static constexpr auto apply(A& a, const B& b) -> decltype(a op b) {                   \
      return a op b;                                                                      \
    }                                                                                     \
  };                                                                                      \
  template <class Mutant, class B>                                                        \
  constexpr Right<Name, Mutant, B> operator op(Choice<Name, Mutant> choice, const B& b) { \
    return {b, choice.id};                                                                \
  }                                                                                       \
  template <class A, class Mutant, class B>                                               \
  constexpr decltype(auto) operator op(A& a, Right<Name, Mutant, B> right) {              \
    if constexpr (requires { Mutant::apply(a, right.b); }) {                              \
      if (on(right.id)) {                                                                 \
        Mutant::apply(a, right.b);                                                        \
        return (a);                                                                       \
      }                                                                                   \
    } else if (!std::is_constant_evaluated()) {                                           \
      does_not_compile(right.id);                                                         \
    }                                                                                     \
    a op right.b;                                                                         \
    return (a);                                                                           \
  }
WM_MUTATION_ASSIGNMENT(AddTo, +=)
WM_MUTATION_ASSIGNMENT(SubtractFrom, -=)
WM_MUTATION_ASSIGNMENT(OrTo, |=)
WM_MUTATION_ASSIGNMENT(AndTo, &=)
#undef WM_MUTATION_ASSIGNMENT

// `++x` becomes `Step{17}->*x`.
struct Step {
  int id;
};

template <class T>
constexpr T& operator->*(Step step, T& value) {
  if constexpr (requires { --value; }) {
    if (on(step.id)) {
      --value;
      return value;
    }
  } else if (!std::is_constant_evaluated()) {
    does_not_compile(step.id);
  }
  ++value;
  return value;
}

// `std::min<T>(a, b)` becomes `minimum<T>(17, a, b)`.
template <class T>
constexpr T minimum(int id, const T& a, const T& b) {
  return on(id) ? std::max(a, b) : std::min(a, b);
}
template <class T>
constexpr T maximum(int id, const T& a, const T& b) {
  return on(id) ? std::min(a, b) : std::max(a, b);
}
template <class T>
constexpr T minimum(int id, std::initializer_list<T> values) {
  return on(id) ? std::max(values) : std::min(values);
}
template <class T>
constexpr T maximum(int id, std::initializer_list<T> values) {
  return on(id) ? std::min(values) : std::max(values);
}

}  // namespace wm_mutation
