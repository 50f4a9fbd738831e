#include "runtime/recorder/recorded_app.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/zstd.h"

namespace wm::runtime {
namespace {

using Kind = RecordedCall::Kind;

// Unique names: kernels with several grids have a number.
std::vector<std::string> names_of(const Recording& recording) {
  std::vector<std::string> names;
  for (const RecordedKernel& k : recording.kernels) {
    std::string name = k.name;
    for (int n = 2; std::find(names.begin(), names.end(), name) != names.end(); ++n)
      name = fmt::format("{}-{}", k.name, n);
    names.push_back(std::move(name));
  }
  return names;
}

// Times count from the first start of each launch. The clock of a GPU may stand still for a block's whole time.
std::string rows_of(const RecordedKernel& kernel, std::uint64_t max_launches) {
  std::string text = "launch,block,sm,start_ns,end_ns\n";
  const std::uint64_t launches = std::min<std::uint64_t>(kernel.launches.size(), max_launches);
  for (std::uint64_t l = 0; l < launches; ++l) {
    const auto& blocks = kernel.launches[l];
    std::uint64_t first = blocks.front().start_ns;
    for (const rewrite::BlockTime& b : blocks) first = std::min(first, b.start_ns);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const std::uint64_t start = blocks[b].start_ns - first, end = blocks[b].end_ns - first;
      text += fmt::format("{},{},{},{},{}\n", l, b, blocks[b].sm, start, std::max(end, start + 1));
    }
  }
  return text;
}

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::copy_to_device:
      return "copy_to_device";
    case Kind::copy_to_host:
      return "copy_to_host";
    case Kind::fill:
      return "fill";
    case Kind::launch:
      return "launch";
  }
  return "";
}

std::string calls_of(const Recording& recording, const std::vector<std::string>& names) {
  std::string text = "call,kernel,bytes,start_us,returned_us,end_us\n";
  for (const RecordedCall& c : recording.calls) {
    text += fmt::format("{},{},{},{:.3f},{:.3f},{:.3f}\n", name_of(c.kind),
                        c.kind == Kind::launch ? names[c.kernel] : "", c.bytes, c.start_us, c.returned_us, c.end_us);
  }
  return text;
}

// The calls in their order, without their own times, which a system configuration has (api_call).
std::string trace_of(const Recording& recording, const std::vector<std::string>& names) {
  std::string text;
  const auto& calls = recording.calls;
  for (std::size_t i = 0; i < calls.size();) {
    if (calls[i].kind != Kind::launch) {
      if (calls[i].kind != Kind::fill) text += fmt::format("- {}: {} B\n", name_of(calls[i].kind), calls[i].bytes);
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < calls.size() && calls[end].kind == Kind::launch && calls[end].kernel == calls[i].kernel) ++end;
    text += fmt::format("- repeat: {}\n  steps: [{{launch: {}}}]\n", end - i, names[calls[i].kernel]);
    if (end == calls.size() || calls[end].kind != Kind::launch) text += "- sync: all\n";
    i = end;
  }
  return text;
}

}  // namespace

Result<std::vector<RecordedFile>> recorded_app(const Recording& recording, const std::string& name,
                                               const std::string& about, const RecordedFormat& format) {
  const std::vector<std::string> names = names_of(recording);
  std::vector<RecordedFile> files{{name + ".yaml", {}}};
  std::string app = fmt::format(
      "# Written by `wm record`. Fills are left out. Registers and shared memory are of a block.\nname: {}\nabout: "
      "{}\nkernels:\n",
      name, about);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const RecordedKernel& kernel = recording.kernels[k];
    const std::string file = fmt::format("{}-{}.csv{}", name, names[k], format.compressed ? ".zst" : "");
    app += fmt::format("  {}: {{recorded: {}, threads: {}, registers: {}, shared_memory: {} B}}\n", names[k], file,
                       kernel.threads, std::uint64_t{kernel.registers} * kernel.threads, kernel.shared_bytes);
    std::string rows = rows_of(kernel, format.max_launches);
    if (format.compressed) {
      auto data = compress_zstd(rows);
      if (!data) return data.error();
      rows = *std::move(data);
    }
    files.push_back({file, std::move(rows)});
  }
  files[0].text = app + "trace:\n" + trace_of(recording, names);
  files.push_back({name + "-calls.csv", calls_of(recording, names)});
  return files;
}

}  // namespace wm::runtime
