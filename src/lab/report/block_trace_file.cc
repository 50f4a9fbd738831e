#include "lab/report/block_trace_file.h"

#include <cmath>
#include <fmt/format.h>

#include "base/json.h"

namespace wm::lab {
namespace {

// Groups of rows: the SMs, the transfer engine, then the processes.
constexpr std::uint32_t kSms = 1;
constexpr std::uint32_t kTransfers = 2;
constexpr std::uint32_t kProcesses = 10;
constexpr std::uint32_t kStreamRows = 10;  // first row of a process's streams, behind its own rows

std::string json_string(const std::string& text) { return nlohmann::json(text).dump(); }

template <typename T>
T& at(std::vector<T>& list, std::size_t i) {
  if (list.size() <= i) list.resize(i + 1);
  return list[i];
}

}  // namespace

BlockTraceFile::BlockTraceFile(const std::vector<std::string>& processes, std::uint32_t sms, Hertz clock)
    : clock_(clock), residents_(sms) {
  name_group(kSms, "SMs");
  for (std::uint32_t i = 0; i < sms; ++i) name_row(kSms, i, fmt::format("SM {}", i));
  name_group(kTransfers, "PCI Express");
  name_row(kTransfers, 0, "to device");
  name_row(kTransfers, 1, "to host");
  for (const std::string& process : processes) add_process(process);
}

void BlockTraceFile::add_process(const std::string& name) {
  const auto i = static_cast<std::uint32_t>(processes_.size());
  processes_.push_back(name);
  name_group(kProcesses + i, fmt::format("process {}: {}", i, name));
  name_row(kProcesses + i, 0, "runs");
  name_row(kProcesses + i, 1, "CPU");
}

void BlockTraceFile::name_group(std::uint32_t group, const std::string& name) {
  events_ += fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}},)"
                         "\n",
                         group, json_string(name));
}

void BlockTraceFile::name_row(std::uint32_t group, std::uint32_t row, const std::string& name) {
  events_ += fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}},)"
                         "\n",
                         group, row, json_string(name));
}

void BlockTraceFile::span(std::uint32_t group, std::uint32_t row, const std::string& name, std::uint64_t begin,
                          std::uint64_t end) {
  // Both ends are rounded in the same way: a span that ended later than the next one begins could not be drawn.
  const auto nanosecond = [&](std::uint64_t cycle) { return std::round(microseconds(cycle) * 1e3); };
  const double from = nanosecond(begin) / 1e3;
  events_ += fmt::format(R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f}}},)"
                         "\n",
                         json_string(name), group, row, from, nanosecond(end) / 1e3 - from);
}

void BlockTraceFile::block_began(const sim::ObservedBlock& block, std::uint64_t time, std::uint64_t, bool) {
  Residency& r = at(residents_[block.sm], block.client);
  if (r.blocks++ == 0) r.begin = time;
}

void BlockTraceFile::block_left(const sim::ObservedBlock& block, std::uint64_t time, bool) {
  Residency& r = at(residents_[block.sm], block.client);
  if (--r.blocks == 0) span(kSms, block.sm, processes_[at(stream_owners_, block.client)], r.begin, time);
}

void BlockTraceFile::cpu_phase(std::uint32_t process, std::uint64_t begin, std::uint64_t end) {
  span(kProcesses + process, 1, "CPU", begin, end);
}

void BlockTraceFile::transfer(std::uint32_t process, bool to_device, std::uint64_t bytes, std::uint64_t begin,
                              std::uint64_t end) {
  span(kTransfers, to_device ? 0 : 1, fmt::format("{}: {} KB", processes_[process], bytes / 1024), begin, end);
}

void BlockTraceFile::launch_began(std::uint32_t process, std::uint32_t stream, const sim::KernelModel& kernel,
                                  std::uint64_t time) {
  while (processes_.size() <= process) add_process(kernel.name);
  at(stream_owners_, stream) = process;
  at(launches_, stream) = {kernel.name, time};
}

void BlockTraceFile::launch_ended(std::uint32_t process, std::uint32_t stream, std::uint64_t time) {
  const Open& open = at(launches_, stream);
  span(kProcesses + process, kStreamRows + stream, open.name, open.begin, time);
}

void BlockTraceFile::run_ended(std::uint32_t process, std::uint64_t begin, std::uint64_t end) {
  span(kProcesses + process, 0, processes_[process], begin, end);
}

std::string BlockTraceFile::text() const {
  std::string text = "{\"traceEvents\":[\n" + events_;
  text.resize(text.size() - 2);  // the last comma
  return text + "\n]}\n";
}

}  // namespace wm::lab
