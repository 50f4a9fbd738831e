#include "exec/address_space.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <new>

#include "exec/device_heap.h"

namespace wm::exec {

namespace {

constexpr std::uint64_t kAlign = 512;

Error outside(const char* what, std::uint64_t address, std::uint64_t bytes, const std::string& nearest) {
  return {fmt::format("{} of {} bytes at {:#x} is out of bounds; {}", what, bytes, address, nearest)};
}

// The distance of `address` from the bytes of `a`; 0 inside.
std::uint64_t distance(const Allocation& a, std::uint64_t address) {
  if (address < a.base) return a.base - address;
  const std::uint64_t end = a.base + a.bytes;
  return address >= end ? address - end + 1 : 0;
}

HostBytes poisoned(std::uint64_t bytes) {
  HostBytes host(new (std::nothrow) std::byte[std::max<std::uint64_t>(bytes, 1)]);
  if (host) std::memset(host.get(), static_cast<int>(kPoison), bytes);
  return host;
}

}  // namespace

void HostRelease::operator()(std::byte* bytes) const {
  if (release) return release(bytes);
  delete[] bytes;
}

AddressSpace::AddressSpace(std::uint64_t limit) : limit_(limit) {}

AddressSpace::AddressSpace(AddressSpace&&) noexcept = default;
AddressSpace& AddressSpace::operator=(AddressSpace&&) noexcept = default;
AddressSpace::~AddressSpace() = default;

Result<void> AddressSpace::make_heap() {
  return make_heap([](std::uint64_t, std::uint64_t bytes) { return poisoned(bytes); });
}

Result<void> AddressSpace::make_heap(const HostSource& source) {
  if (heap_ != nullptr) return {};
  const auto base = allocate(DeviceHeap::kBytes, "heap of kernels", source);
  if (!base) return base.error();
  heap_ = std::make_unique<DeviceHeap>(*base);
  return {};
}

Result<void> AddressSpace::use_as_heap(std::uint64_t address, std::uint64_t sm_bytes) {
  const Allocation* a = find(address);
  if (a == nullptr || a->base != address) return Error{fmt::format("no allocation starts at {:#x}", address)};
  if (heap_ != nullptr && heap_->is_used()) return Error{"kernels use the heap already"};
  heap_ = std::make_unique<DeviceHeap>(address, a->bytes, sm_bytes);
  return {};
}

Result<void> AddressSpace::add_alias(std::uint64_t alias, std::uint64_t address, std::uint64_t bytes) {
  const auto overlaps = [&](std::uint64_t first, std::uint64_t length) {
    return alias < first + length && first < alias + bytes;
  };
  const auto taken = [&](const auto& known) { return overlaps(known.first, known.second.bytes); };
  const bool fits = bytes != 0 && bytes <= ~alias && at(address, bytes) != nullptr &&
                    !overlaps(kGlobalBase, kGlobalEnd - kGlobalBase) && !overlaps(kParamWindow, kWindowBytes) &&
                    !overlaps(kSharedWindow, kWindowBytes) && !overlaps(kLocalWindow, kWindowBytes) &&
                    std::none_of(aliases_.begin(), aliases_.end(), taken);
  if (!fits) return Error{fmt::format("kernels cannot use {} bytes at {:#x} as other addresses", bytes, alias)};
  aliases_[alias] = {bytes, address};
  return {};
}

std::uint64_t AddressSpace::resolve(std::uint64_t address) const {
  auto at = aliases_.upper_bound(address);
  if (at == aliases_.begin()) return address;
  --at;
  return address - at->first < at->second.bytes ? at->second.address + (address - at->first) : address;
}

Result<std::uint64_t> AddressSpace::clear_workspace() {
  constexpr std::uint64_t kBytes = 512;
  if (workspace_ == 0) {
    const auto made = allocate(kBytes, "workspace of cooperative launches");
    if (!made) return made.error();
    workspace_ = *made;
  }
  if (auto done = fill(workspace_, std::byte{0}, kBytes); !done) return done.error();
  return workspace_;
}

Result<std::uint64_t> AddressSpace::allocate(std::uint64_t bytes, std::string name) {
  return allocate(bytes, std::move(name), [](std::uint64_t, std::uint64_t n) { return poisoned(n); });
}

Result<std::uint64_t> AddressSpace::allocate(std::uint64_t bytes, std::string name, const HostSource& source) {
  // A page between neighbours stays unmapped. The start varies within its page: buffers that all started at a page
  // would all fall into the same cache sets.
  const std::uint64_t start = allocations_.size() * 37 % 64 * kAlign / alignment_ * alignment_;
  const std::uint64_t address = kGlobalBase + ((pages_.size() + 1) << kPageBits) + start;
  if (auto added = add(address, bytes, std::move(name), source); !added) return added.error();
  return address;
}

Result<void> AddressSpace::allocate_at(std::uint64_t address, std::uint64_t bytes, std::string name,
                                       const HostSource& source) {
  if (address % kAlign != 0 || address < kGlobalBase + ((pages_.size() + 1) << kPageBits) || address >= kGlobalEnd)
    return Error{fmt::format("{:#x} is no address for an allocation after the others", address)};
  return add(address, bytes, std::move(name), source);
}

Result<void> AddressSpace::add(std::uint64_t address, std::uint64_t bytes, std::string name, const HostSource& source) {
  if (bytes > limit_ - used_)
    return Error{fmt::format("cannot allocate {} bytes for '{}': {} of {} bytes of device memory are in use", bytes,
                             name, used_, limit_)};
  const auto index = static_cast<std::uint32_t>(allocations_.size());
  const std::uint64_t first_page = (address - kGlobalBase) >> kPageBits;
  const std::uint64_t last_page = (address - kGlobalBase + std::max<std::uint64_t>(bytes, 1) - 1) >> kPageBits;
  if ((last_page << kPageBits) >= kGlobalEnd - kGlobalBase)
    return Error{fmt::format("no addresses left for {} bytes for '{}'", bytes, name)};

  Allocation a;
  a.base = address;
  a.bytes = bytes;
  a.host = source(a.base, bytes);
  if (!a.host) return Error{fmt::format("the host has no {} bytes for '{}'", bytes, name)};
  a.name = std::move(name);
  pages_.resize(first_page, kFree);
  pages_.resize(last_page + 1, index);
  used_ += bytes;
  allocations_.push_back(std::move(a));
  return {};
}

Result<void> AddressSpace::free(std::uint64_t address) {
  const Allocation* a = find(address);
  if (a == nullptr || a->base != address) return Error{fmt::format("no allocation starts at {:#x}", address)};
  auto& freed = allocations_[static_cast<std::size_t>(a - allocations_.data())];
  const std::uint64_t first = (address - kGlobalBase) >> kPageBits;
  const std::uint64_t last = (address + std::max<std::uint64_t>(freed.bytes, 1) - 1 - kGlobalBase) >> kPageBits;
  std::fill(pages_.begin() + static_cast<std::ptrdiff_t>(first), pages_.begin() + static_cast<std::ptrdiff_t>(last) + 1,
            kFree);
  used_ -= freed.bytes;
  freed.host.reset();
  std::erase_if(aliases_, [&](const auto& alias) { return alias.second.address - freed.base < freed.bytes; });
  if (heap_ != nullptr && heap_->base() == address) heap_.reset();
  return {};
}

void AddressSpace::make_read_only(std::uint64_t address) {
  if (const Allocation* a = find(address))
    allocations_[static_cast<std::size_t>(a - allocations_.data())].read_only = true;
}

Result<void> AddressSpace::write(std::uint64_t address, const std::byte* from, std::uint64_t bytes) {
  if (bytes == 0) return {};
  std::byte* to = at(address, bytes);
  if (to == nullptr) return outside("copy", address, bytes, nearest(address));
  std::memcpy(to, from, bytes);
  return {};
}

Result<void> AddressSpace::read(std::uint64_t address, std::byte* to, std::uint64_t bytes) const {
  if (bytes == 0) return {};
  const std::byte* from = at(address, bytes);
  if (from == nullptr) return outside("copy", address, bytes, nearest(address));
  std::memcpy(to, from, bytes);
  return {};
}

Result<void> AddressSpace::fill(std::uint64_t address, std::byte value, std::uint64_t bytes) {
  if (bytes == 0) return {};
  std::byte* to = at(address, bytes);
  if (to == nullptr) return outside("fill", address, bytes, nearest(address));
  std::memset(to, static_cast<int>(value), bytes);
  return {};
}

std::string AddressSpace::nearest(std::uint64_t address) const {
  const Allocation* best = nullptr;
  for (const Allocation& a : allocations_)
    if (a.host && (best == nullptr || distance(a, address) < distance(*best, address))) best = &a;
  if (best == nullptr) return "nothing is allocated";
  const std::string which = fmt::format("nearest allocation: '{}' [{:#x}, {:#x}) of {} bytes", best->name, best->base,
                                        best->base + best->bytes, best->bytes);
  if (address < best->base) return fmt::format("{}, the address is {} bytes before it", which, best->base - address);
  const std::uint64_t offset = address - best->base;
  if (offset < best->bytes) return fmt::format("{}, the address is {} bytes into it", which, offset);
  return fmt::format("{}, the address is {} bytes past its end", which, offset - best->bytes);
}

}  // namespace wm::exec
