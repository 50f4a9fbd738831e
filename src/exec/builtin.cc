// Functions that the machine provides to kernels: vprintf, __assertfail, malloc and free.
#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <mutex>

#include "exec/block.h"
#include "exec/device_heap.h"
#include "exec/global_port.h"
#include "exec/print_format.h"
#include "exec/warp.h"

namespace wm::exec {

namespace {

constexpr std::uint64_t kLongestString = 4096;

}  // namespace

// An argument of the call, as one lane gave it.
std::uint64_t Warp::argument(const CallSite& site, std::size_t index, int lane) const {
  if (index >= site.arguments.size()) return 0;
  const Passed& p = site.arguments[index];
  std::uint64_t value = 0;
  const std::byte* from = p.in_register && p.row.constant()
                              ? grid_->constants->data() + p.row.offset() + static_cast<std::size_t>(lane) * p.bytes
                              : passed_at(p, frame(), lane);
  std::memcpy(&value, from, std::min<std::size_t>(p.bytes, sizeof value));
  return value;
}

std::optional<std::string> Warp::string_at(const Op& op, int lane, std::uint64_t address) {
  address = grid_->memory->without_alias(address);
  const std::byte* first = host_of(op, ptx::Space::generic, lane, address, 1, false);
  Window window;
  if (first == nullptr || !find_window(ptx::Space::generic, address, window)) return std::nullopt;
  const std::uint64_t there = std::min(window.bytes - (address - window.base), kLongestString);
  const auto* text = reinterpret_cast<const char*>(first);
  std::vector<std::byte> seen;  // through the port
  if (block_->port != nullptr && !block_->port->empty()) {
    seen.resize(there);
    block_->port->read(first, seen.data(), static_cast<std::uint32_t>(there));
    text = reinterpret_cast<const char*>(seen.data());
  }
  const void* end = std::memchr(text, 0, there);
  if (end != nullptr) return std::string(text, static_cast<const char*>(end));
  if (there == kLongestString) return std::string(text, there);
  // The string runs past the end of its allocation: a fault at that place.
  host_of(op, ptx::Space::generic, lane, address + there, 1, false);
  return std::nullopt;
}

void Warp::builtin(ProgramFunction::Builtin which, const Op& op, Mask active) {
  const CallSite& site = program_->calls[op.targets];
  for (Mask m = active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (which == ProgramFunction::Builtin::assertfail) return assertion(op, site, lane);
    const bool prints = which == ProgramFunction::Builtin::vprintf;
    if (prints ? !print(op, site, lane) : !heap(which, site, lane)) return;
  }
  advance();
}

bool Warp::print(const Op& op, const CallSite& site, int lane) {
  const auto format = string_at(op, lane, argument(site, 0, lane));
  if (!format) return false;
  const std::uint64_t buffer = argument(site, 1, lane);
  const Printed printed = format_print(
      *format,
      [&](std::uint64_t offset, std::uint32_t bytes) -> const std::byte* {
        return host_of(op, ptx::Space::generic, lane, buffer + offset, bytes, false);
      },
      [&](std::uint64_t address) { return string_at(op, lane, address); });
  if (!printed.ok) return false;
  if (grid_->print && block_->port != nullptr)
    block_->port->print(grid_->print, printed.text);
  else if (grid_->print)
    grid_->print(printed.text);
  if (!site.results.empty() && !(site.results[0].in_register && site.results[0].row.constant())) {
    const std::int32_t count = printed.arguments;
    std::memcpy(passed_at(site.results[0], frame(), lane), &count,
                std::min<std::size_t>(site.results[0].bytes, sizeof count));
  }
  return true;
}

bool Warp::heap(ProgramFunction::Builtin which, const CallSite& site, int lane) {
  DeviceHeap* heap = grid_->memory->heap();
  std::unique_lock<std::mutex> lock;
  if (grid_->atomics != nullptr) lock = std::unique_lock(*grid_->atomics);
  const Block::SmNumbers& on = block_->sm_numbers();
  const std::uint64_t value = argument(site, 0, lane);
  if (which == ProgramFunction::Builtin::free) {
    if (heap != nullptr && heap->free(value, on.sm)) return true;
    raise(fault_at(Fault::Kind::illegal_instruction, lane,
                   fmt::format("free of {:#x}, which malloc did not give", value)));
    return false;
  }
  const std::uint64_t address = heap != nullptr ? heap->allocate(value, on.sm, on.sms) : 0;
  if (!site.results.empty())
    std::memcpy(passed_at(site.results[0], frame(), lane), &address,
                std::min<std::size_t>(site.results[0].bytes, sizeof address));
  return true;
}

// __assertfail(message, file, line, function, size of a character)
void Warp::assertion(const Op& op, const CallSite& site, int lane) {
  const auto message = string_at(op, lane, argument(site, 0, lane));
  const auto file = message ? string_at(op, lane, argument(site, 1, lane)) : std::nullopt;
  const auto function = file ? string_at(op, lane, argument(site, 3, lane)) : std::nullopt;
  if (!function) return;
  const auto line = static_cast<std::uint32_t>(argument(site, 2, lane));
  raise(fault_at(Fault::Kind::assertion, lane,
                 fmt::format("assertion '{}' failed at {}:{} in '{}'", *message, *file, line, *function)));
}

}  // namespace wm::exec
