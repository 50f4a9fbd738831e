#include "lab/report/block_trace_file.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/json.h"

namespace wm::lab {
namespace {

// Groups of rows: the SMs, the transfer engine, then the processes.
constexpr std::uint32_t kSms = 1;
constexpr std::uint32_t kTransfers = 2;
constexpr std::uint32_t kProcesses = 10;
constexpr std::uint32_t kStreamRows = 10;       // first row of a process's streams, behind its own rows
constexpr std::uint32_t kMoreRuns = 1'000'000;  // first row of requests that wait for others, behind all streams
constexpr std::uint32_t kRowsOfSm = 64;         // an SM has at most as many blocks, and so as many clients at a time

// Bytes of a file's name that are not UTF-8 are replaced.
std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <typename T>
T& at(std::vector<T>& list, std::size_t i) {
  if (list.size() <= i) list.resize(i + 1);
  return list[i];
}

}  // namespace

BlockTraceFile::BlockTraceFile(const std::vector<std::string>& processes, std::uint32_t sms, Hertz clock)
    : clock_(clock), residents_(sms), rows_in_use_(sms) {
  name_group(kSms, "SMs");
  for (std::uint32_t i = 0; i < sms; ++i) name_row(kSms, i * kRowsOfSm, fmt::format("SM {}", i));
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

// Writes the last phase or copy of a row, which ends before the next one begins, and keeps the next one.
void BlockTraceFile::replace(Known& last, std::uint32_t group, std::uint32_t row, const Known& next) {
  if (last.end != 0) span(group, row, last.name, last.begin, last.end);
  last = next;
}

// The first row of the SM that shows no client at present.
std::uint32_t BlockTraceFile::take_row(std::uint32_t sm) {
  std::vector<bool>& in_use = rows_in_use_[sm];
  const auto row = static_cast<std::uint32_t>(std::find(in_use.begin(), in_use.end(), false) - in_use.begin());
  if (row == in_use.size()) {
    in_use.push_back(false);
    if (row != 0) name_row(kSms, sm * kRowsOfSm + row, fmt::format("SM {}", sm));
  }
  in_use[row] = true;
  return row;
}

void BlockTraceFile::block_began(const sim::ObservedBlock& block, std::uint64_t time, std::uint64_t, bool) {
  Residency& r = at(residents_[block.sm], block.client);
  if (r.blocks++ != 0) return;
  r.row = take_row(block.sm);
  r.begin = time;
}

void BlockTraceFile::block_left(const sim::ObservedBlock& block, std::uint64_t time, bool) {
  if (--at(residents_[block.sm], block.client).blocks == 0) end_residency(block.sm, block.client, time);
}

void BlockTraceFile::end_residency(std::uint32_t sm, std::uint32_t client, std::uint64_t time) {
  const Residency& r = residents_[sm][client];
  span(kSms, sm * kRowsOfSm + r.row, processes_[at(stream_owners_, client)], r.begin, time);
  rows_in_use_[sm][r.row] = false;
}

void BlockTraceFile::cpu_phase(std::uint32_t process, std::uint64_t begin, std::uint64_t end) {
  replace(at(cpu_phases_, process), kProcesses + process, 1, {"CPU", begin, end});
}

void BlockTraceFile::transfer(std::uint32_t process, bool to_device, std::uint64_t bytes, std::uint64_t begin,
                              std::uint64_t end) {
  const std::uint32_t row = to_device ? 0 : 1;
  replace(copies_[row], kTransfers, row, {fmt::format("{}: {} KB", processes_[process], bytes / 1024), begin, end});
}

void BlockTraceFile::launch_began(std::uint32_t process, std::uint32_t stream, const sim::KernelModel& kernel,
                                  std::uint64_t time) {
  while (processes_.size() <= process) add_process(kernel.name);
  at(stream_owners_, stream) = process;
  at(launches_, stream) = {kernel.name, time, true};
}

void BlockTraceFile::launch_ended(std::uint32_t process, std::uint32_t stream, std::uint64_t time) {
  Open& open = at(launches_, stream);
  open.active = false;
  span(kProcesses + process, kStreamRows + stream, open.name, open.begin, time);
}

// A request begins when it arrives, while others of its process may be under way: the first row whose last one ended
// before.
std::uint32_t BlockTraceFile::run_row(std::uint32_t process, std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint64_t>& ends = at(runs_, process);
  const auto free = std::find_if(ends.begin(), ends.end(), [&](std::uint64_t last) { return last <= begin; });
  const auto row = static_cast<std::uint32_t>(free - ends.begin());
  const bool is_new = row == ends.size();
  at(ends, row) = end;
  if (row == 0) return 0;
  if (is_new) name_row(kProcesses + process, kMoreRuns + row, "runs");
  return kMoreRuns + row;
}

void BlockTraceFile::run_ended(std::uint32_t process, std::uint64_t begin, std::uint64_t end) {
  span(kProcesses + process, run_row(process, begin, end), processes_[process], begin, end);
}

std::string BlockTraceFile::text(std::uint64_t end) {
  for (std::uint32_t s = 0; s < residents_.size(); ++s)
    for (std::uint32_t client = 0; client < residents_[s].size(); ++client)
      if (residents_[s][client].blocks != 0) end_residency(s, client, end);
  for (std::uint32_t stream = 0; stream < launches_.size(); ++stream)
    if (launches_[stream].active) launch_ended(stream_owners_[stream], stream, end);
  for (Known& last : cpu_phases_) last.end = std::min(last.end, end);
  for (Known& last : copies_) last.end = std::min(last.end, end);
  for (std::uint32_t p = 0; p < cpu_phases_.size(); ++p) replace(cpu_phases_[p], kProcesses + p, 1, {});
  for (std::uint32_t row = 0; row < copies_.size(); ++row) replace(copies_[row], kTransfers, row, {});
  std::string text = "{\"traceEvents\":[\n" + events_;
  text.resize(text.size() - 2);  // the last comma
  return text + "\n]}\n";
}

}  // namespace wm::lab
