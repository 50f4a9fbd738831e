// Requests to the rewriter and its replies: OpenCL C in, persistent workers out.
//
// Plain values without clang in them, so that the runtime and a host without clang's libraries can hold, send and
// store them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace wm::rewrite {

// Part of every cache key: a change of the rewriter that changes an answer changes this.
inline constexpr std::uint32_t kRewriterVersion = 8;

// The device a program is built for, as far as its preprocessor and its types can tell.
struct Device {
  std::string triple = "spir64-unknown-unknown";  // target of predefined macros and type sizes
  std::string language = "CL1.2";                 // language version of a build without -cl-std
  std::vector<std::string> extensions;            // and OpenCL C 3.0 features; empty: whatever the triple has
  std::vector<std::string> macros;                // NAME=VALUE, what the device's compiler defines otherwise
  std::vector<std::string> undefined;             // macros that the device does not define
  friend bool operator==(const Device&, const Device&) = default;
};

struct Request {
  std::string source;
  std::string options{};                                       // as given to clBuildProgram or clCompileProgram
  std::vector<std::pair<std::string, std::string>> headers{};  // include name and text, of clCompileProgram
  std::string directory{};  // where a relative -I starts; empty: where the worker runs
  Device device{};
  friend bool operator==(const Request&, const Request&) = default;
};

// One argument of the original kernel, as clGetKernelArgInfo tells it.
struct ArgumentInfo {
  std::string name;
  std::string type;        // "float*"
  std::string address;     // "global", "constant", "local", "private"
  std::string access;      // "read_only", "write_only", "read_write", "none"
  std::string qualifiers;  // "const restrict volatile pipe", those that hold
  friend bool operator==(const ArgumentInfo&, const ArgumentInfo&) = default;
};

struct KernelReply {
  std::string name;
  bool rewritten = false;
  std::string reason;  // why it is not
  std::vector<ArgumentInfo> arguments;
  std::string attributes;               // "reqd_work_group_size(16,8,1)", as CL_KERNEL_ATTRIBUTES
  std::uint32_t instructions = 0;       // counted on the syntax tree, helpers included, loops once
  std::uint32_t chunk = 1;              // virtual groups a worker takes at a time
  std::uint64_t local_bytes = 0;        // static local memory of the original
  std::uint64_t extra_local_bytes = 0;  // local memory that the scheduling kernel adds
  friend bool operator==(const KernelReply&, const KernelReply&) = default;
};

// A file of the host's that the source included; the answer holds while its content does.
struct Dependency {
  std::string path;
  std::uint64_t digest = 0;
  friend bool operator==(const Dependency&, const Dependency&) = default;
};

// The state of a predefined macro that a condition of the program depended on. The device's compiler may define it
// differently.
struct Assumption {
  std::string name;
  bool defined = false;
  bool valued = false;  // its value was looked at, not only whether there is one
  std::string value;    // a whole number; empty: something else, or none
  friend bool operator==(const Assumption&, const Assumption&) = default;
};

struct Reply {
  std::string source;   // to build instead of the original; empty when no kernel was rewritten
  std::string options;  // to build it with: the original's without -D and -I, which are already applied
  std::string refusal;  // why no kernel was rewritten, for example a source that does not parse; building the original
                        // reports its errors
  std::vector<KernelReply> kernels;
  std::vector<Dependency> dependencies;
  std::vector<Assumption> assumptions;
  friend bool operator==(const Reply&, const Reply&) = default;
};

// The arguments a scheduling kernel takes after the original's, in this order:
//   __global uint* queue           the next virtual group; 0 before the first launch, kept over relaunches
//   __global const uint* control   workers with an index below it go on; the others leave at their next dequeue
//   Range range, by value
// A launch has its workers along dimension 0: global size (workers * local x, local y, local z), the original's local
// size, no offset. All virtual groups are done when a launch has ended and the queue is at the number of groups or
// past.
inline constexpr std::uint32_t kExtraArguments = 3;

struct Range {
  std::array<std::uint32_t, 3> groups{1, 1, 1};  // groups of the original; their product stays below 2^31
  std::uint32_t chunk = 1;
  std::array<std::uint64_t, 3> offset{0, 0, 0};  // the global work offset
  std::uint32_t dimensions = 1;                  // get_work_dim()
  std::uint32_t unused = 0;
};
static_assert(sizeof(Range) == 48, "the layout of wm__range in the rewritten source");

}  // namespace wm::rewrite
