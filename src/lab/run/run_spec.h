// One run as data: which kernels share which GPU under which policy, and for how long.
//
// `wm sim` parses its options into a RunSpec, a cell of an experiment holds one, and a process that runs a cell reads
// one as JSON. A result is stored under the key of its RunSpec. The key depends on the meaning of the run only: options
// of the command line can be renamed, and fields with defaults added, without changing the key of a stored result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "base/units.h"

namespace wm::lab {

// Open arrivals of an application on the block machine: its runs are requests that arrive by themselves.
struct RequestSpec {
  std::string arrivals;       // "poisson=200", "bursts=20x8" or "requests=FILE"; empty: one run after the other
  std::string service_class;  // class under which latencies are reported; empty: the application's name
  std::optional<Picoseconds> deadline;  // goodput counts requests that end within it

  friend bool operator==(const RequestSpec&, const RequestSpec&) = default;
};

// One kernel and how it takes part. At most one of the four goals is set.
struct KernelSpec {
  std::string name;                      // a kernel of the zoo, or the path of a description
  std::string size = "medium";           // small, medium, large or short_blocks
  std::optional<double> goal;            // a fraction of the isolated rate, such as 0.9
  std::optional<double> goal_ipc;        // thread instructions per cycle
  std::optional<Picoseconds> goal_time;  // time of one run of the application, transfers included
  std::optional<double> goal_rate;       // runs of the application per second
  int priority = 0;
  double share = 1;
  std::uint32_t blocks_per_sm = 0;  // limit in the co-run; isolated runs have none. 0: no limit
  Cycles arrive;
  std::uint32_t launches = 1;  // runs of the application; 0: it repeats to the end of the run
  bool application = false;    // a trace of configs/apps with CPU phases and transfers, for the block machine
  std::uint32_t process = 0;   // applications with the same number belong to one process; 0: one of its own
  double saturation = 1;       // block machine: the part of the blocks per SM from which more make an SM no faster
  RequestSpec requests = {};

  friend bool operator==(const KernelSpec&, const KernelSpec&) = default;
};

struct PolicySpec {
  std::string name;
  std::vector<std::pair<std::string, std::string>> parameters;

  // Splits NAME[:parameter=value]… without asking whether such a policy exists.
  static Result<PolicySpec> parse(std::string_view text);
  // NAME[:parameter=value]…
  [[nodiscard]] std::string to_string() const;
  // The same policy with every parameter written out, except parameters that were added after results were stored and
  // have their default. An error where this program has no such policy.
  [[nodiscard]] Result<PolicySpec> resolved() const;

  friend bool operator==(const PolicySpec&, const PolicySpec&) = default;
};

struct RunSpec {
  // Increased when the meaning of a field changes; lab/store/migrate.h then brings stored rows up to date.
  static constexpr int kSchema = 1;

  std::string gpu = "qos16";  // a name, or the path of a configuration
  std::string machine = "cycle";
  std::vector<KernelSpec> kernels;
  PolicySpec policy{"left_over", {}};
  std::uint64_t cycles = 0;         // the run ends after so many; 0: when all kernels are done
  bool match_instructions = false;  // a kernel ends at the instructions of its isolated run (Warped-Slicer's protocol)
  std::uint64_t seed = 1;           // seed of the policy's random numbers
  std::uint64_t warm = 0;           // rates are computed from this cycle on
  std::uint32_t from = 0;           // and from when every kernel has completed so many launches
  std::uint32_t runs = 0;           // the run ends when every application has completed so many; 0: no such rule

  friend bool operator==(const RunSpec&, const RunSpec&) = default;
};

// Keys have a fixed order, and optional fields at their default value are left out: equal specifications give equal
// text, and a field that is added later leaves the text of older specifications as it is.
nlohmann::ordered_json to_json(const RunSpec& spec);
Result<RunSpec> run_spec_from_json(const std::string& text, const std::string& file);

// The `wm sim` command that makes this run, quoted for a shell where needed.
std::string command_of(const RunSpec& spec);

// The name under which the result of `spec` is stored: a digest of the GPU's configuration (`gpu_digest`), not its
// name, and of the specification. The policy must be resolved.
std::string key_of(const RunSpec& spec, const std::string& gpu_digest);

}  // namespace wm::lab
