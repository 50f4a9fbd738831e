// The scanner counts fields and finds member functions in every form of declaration that the tree uses.
#include "structure/class_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wm::structure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> classes(std::string_view text) {
  std::vector<std::string> found;
  for (const ClassDefinition& c : scan_source(text).classes) found.push_back(c.name + " " + std::to_string(c.fields));
  return found;
}

TEST(ClassScan, FieldsOfEveryFormCount) {
  EXPECT_THAT(classes(R"(
    class A final : public B<int, C>, private D {
     public:
      int a;
      int b, *c, d[3];
      std::map<std::string, std::vector<int>> e_;
      std::function<void(int, float)> f_ = [](int x, float) { g(x); };
      std::array<int, (1 << 3)> g_{};
      std::uint32_t h_ : 3 = 1;
      void (*i_)(int) = nullptr;
      alignas(64) std::atomic<int> j_{0};
      [[maybe_unused]] mutable const int& k_;
      std::pair<int, int> l_ = std::pair<int, int>{1, 2};
      struct stat m_{};
      decltype(a) n_;
      int o_ = f(1, 2), p_ = 3;
    };)"),
              ElementsAre("A 16"));
}

TEST(ClassScan, FunctionsTypesAndStaticsAreNoFields) {
  EXPECT_THAT(classes(R"(
    struct A {
      A() = default;
      explicit A(int x) : a{x}, b(2) { use(x); }
      ~A();
      A& operator=(const A&) = delete;
      bool operator()(int) const { return true; }
      template <typename T>
      std::vector<T> make(T t = {}) const noexcept(true);
      static constexpr int kLimit = 3;
      inline static int count = 0;
      using X = int;
      typedef int Y;
      friend class B;
      friend bool operator==(const A&, const A&) = default;
      enum class E { one, two };
      class Later;
      static_assert(sizeof(int) == 4);
      auto f() -> std::map<int, int> { return {}; }
      virtual void g() = 0;
      [[nodiscard]] int h() const { if (a) { return 1; } return 2; }
      int a;
      int b;
    };)"),
              ElementsAre("A 2"));
}

TEST(ClassScan, NestedClassesAreCountedByThemselves) {
  EXPECT_THAT(
      classes(R"(
    namespace wm { namespace {
    struct Outer {
      struct Inner { int x; int y; };
      Inner inner;
      struct { int u, v; } unnamed;
      union { int i; float f; } both;
      std::vector<Inner> list;
    };
    struct Outer::Later { int z; };
    template <typename T> struct S<T*> { T t; };
    }}
    enum class Kind { a, b };
    struct stat now() { struct Local { int no; }; return {}; })"),
      ElementsAre("Outer 4", "Outer::Inner 2", "Outer::(unnamed) 2", "Outer::(unnamed) 2", "Outer::Later 1", "S 1"));
}

TEST(ClassScan, CommentsLiteralsAndDirectivesAreIgnored) {
  EXPECT_THAT(classes("#define X struct P { int a; \\\n int b; };\n"
                      "// struct Q { int a; };\n/* struct R { int a; }; */\n"
                      "const char* s = \"struct S { int a; };\";\n"
                      "const char* t = R\"x(struct T { \" int a; };)x\";\n"
                      "const char c = '{', d = '\\'';\nint n = 1'000;\n"
                      "struct U { int a; };"),
              ElementsAre("U 1"));
}

TEST(ClassScan, MemberFunctionsNameTheirClass) {
  EXPECT_THAT(scan_source(R"(
    namespace wm {
    A::A(int x) : B<int>{x}, c_(3), d_{4} { body(); }
    A::~A() { a::b(); }
    bool A::Inner::operator<(const Inner& o) const { return x < o.x; }
    template <typename T> Result<std::vector<T>> C::f(int x) const { return {}; }
    int free_function(int x) { return Other::call(x); }
    const int D::table[] = {1, 2};
    static std::string E::g();
    })")
                  .members_of,
              ElementsAre("A", "A::Inner", "C"));
}

TEST(ClassScan, AFunctionBodyHidesItsClasses) {
  EXPECT_THAT(classes("void f() { struct X { int a; }; }\nauto g = [] { struct Y { int b; }; };"), IsEmpty());
}

}  // namespace
}  // namespace wm::structure
