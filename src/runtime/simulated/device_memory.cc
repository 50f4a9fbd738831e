#include "runtime/simulated/device_memory.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "runtime/simulated/shared_pages.h"

namespace wm::runtime {

namespace {

constexpr std::uint64_t kPoisonedUpTo = std::uint64_t{32} << 20;
// Host memory at fixed addresses may be taken by others; so many addresses are tried.
constexpr int kAddressesTried = 64;

bool is_device_address(std::uint64_t address) { return address >= exec::kGlobalBase && address < exec::kGlobalEnd; }

exec::HostBytes map_pages(void* at, std::uint64_t bytes, int file, std::uint64_t offset) {
  const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  const int place = at == nullptr ? 0 : MAP_FIXED_NOREPLACE;
  void* pages = ::mmap(at, bytes, PROT_READ | PROT_WRITE, kind | place | MAP_NORESERVE, file,
                       file < 0 ? 0 : static_cast<off_t>(offset));
  if (pages == MAP_FAILED) return {};
  if (at != nullptr && pages != at) {  // kernels before 4.17 ignore MAP_FIXED_NOREPLACE
    ::munmap(pages, bytes);
    return {};
  }
  return exec::HostBytes(static_cast<std::byte*>(pages), {[bytes, file, offset](std::byte* p) {
                           ::munmap(p, bytes);
                           if (file < 0) return;
                           ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                                       static_cast<off_t>(bytes));
                         }});
}

}  // namespace

// More than the host's memory, or than the device's, could be allocated and not be used.
DeviceMemory::DeviceMemory(std::uint64_t limit, MemoryBacking* backing)
    : limit_(limit),
      shared_limit_(std::max(limit, static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * HostPages::page_bytes())),
      backing_(backing),
      space_(std::min(std::uint64_t{1} << 43, exec::kGlobalEnd - exec::kGlobalBase)) {}

// Complete pages around the address: an allocation begins inside a page of the executor's, which is the host's too.
exec::HostBytes DeviceMemory::pages(std::uint64_t address, std::uint64_t bytes, bool visible) const {
  constexpr std::uint64_t kPage = 65536;
  const std::uint64_t first = address / kPage * kPage;
  const std::uint64_t length = (address + std::max<std::uint64_t>(bytes, 1) - first + kPage - 1) / kPage * kPage;
  auto mapped = map_pages(visible ? reinterpret_cast<void*>(first) : nullptr, length,
                          backing_ == nullptr ? -1 : backing_->file(), first - exec::kGlobalBase);
  if (!mapped) return {};
  auto release = mapped.get_deleter();
  std::byte* base = mapped.release();
  return exec::HostBytes(base + (address - first), {[base, release](std::byte*) { release(base); }});
}

void DeviceMemory::Reader::lock() {
  while (memory_.writers_.load() != 0) std::this_thread::yield();
  memory_.mutex_.lock_shared();
}

Result<std::uint64_t> DeviceMemory::add(std::uint64_t bytes, const std::string& name, const exec::HostSource& source,
                                        MemoryRange range) {
  auto address = space_.allocate(bytes, name, source);
  if (!address) return address.error();
  if (backing_ != nullptr) {
    if (auto told = backing_->allocated(*address, bytes, range.kind == MemoryKind::device, name); !told) {
      (void)space_.free(*address);
      return told.error();
    }
  }
  range.address = range.allocation = *address;
  range.bytes = bytes;
  range.id = ++allocations_;
  if (range.kind == MemoryKind::pinned || range.kind == MemoryKind::managed) {
    range.host_access = reinterpret_cast<std::byte*>(*address);
  }
  if (range.kind == MemoryKind::registered) registered_[reinterpret_cast<std::uint64_t>(range.host_access)] = *address;
  ranges_[*address] = range;
  return *address;
}

Result<std::uint64_t> DeviceMemory::allocate(std::uint64_t bytes, const std::string& name, const void* owner) {
  const Writer writer(*this);
  if (bytes > limit_ - device_bytes_) {
    return Error{fmt::format("{} bytes do not fit: {} of {} bytes are in use", bytes, device_bytes_, limit_)};
  }
  const auto source = [this](std::uint64_t at, std::uint64_t count) {
    auto memory = pages(at, count, false);
    if (memory && count <= kPoisonedUpTo) std::memset(memory.get(), static_cast<int>(exec::kPoison), count);
    return memory;
  };
  auto address = add(bytes, name, source, {.kind = MemoryKind::device, .owner = owner});
  if (address) device_bytes_ += bytes;
  return address;
}

Result<std::uint64_t> DeviceMemory::allocate_shared(std::uint64_t bytes, MemoryKind kind, std::uint32_t flags,
                                                    const void* owner) {
  const Writer writer(*this);
  if (bytes > shared_limit_ - shared_bytes_) {
    return Error{
        fmt::format("{} bytes do not fit: {} of {} bytes of the host are in use", bytes, shared_bytes_, shared_limit_)};
  }
  const auto source = [this](std::uint64_t at, std::uint64_t count) { return pages(at, count, true); };
  for (int i = 0; i < kAddressesTried; ++i) {
    auto address = add(bytes, kind == MemoryKind::managed ? "managed memory" : "pinned memory", source,
                       {.kind = kind, .flags = flags, .owner = owner});
    if (address) {
      shared_bytes_ += bytes;
      return address;
    }
    // An allocation without memory moves the executor on to the next addresses.
    if (auto skipped =
            space_.allocate(bytes, "", [](std::uint64_t, std::uint64_t) { return exec::HostBytes(new std::byte[1]); });
        skipped) {
      if (auto freed = space_.free(*skipped); !freed) return freed.error();
    }
  }
  return Error{fmt::format("the host has no {} bytes at addresses that kernels can use", bytes)};
}

Result<std::uint64_t> DeviceMemory::register_host(void* host, std::uint64_t bytes, std::uint32_t flags,
                                                  const void* owner) {
  const Writer writer(*this);
  auto* first = static_cast<std::byte*>(host);
  if (const MemoryRange* range = range_at(reinterpret_cast<std::uint64_t>(host))) {
    return Error{fmt::format("{} is part of {} bytes that kernels can access already", host, range->bytes)};
  }
  const MemoryRange range{.kind = MemoryKind::registered, .flags = flags, .host_access = first, .owner = owner};
  if (backing_ != nullptr) return register_shared(first, bytes, range);
  // An address has the alignment of the host's.
  constexpr std::uint64_t kAlign = 512;
  const std::uint64_t before = reinterpret_cast<std::uint64_t>(host) % kAlign;
  const auto source = [&](std::uint64_t, std::uint64_t) {
    return exec::HostBytes(first - before, {[](std::byte*) {}});
  };
  auto allocation = add(before + bytes, "registered memory", source, range);
  if (!allocation) return allocation.error();
  return name_registered(*allocation, *allocation + before, bytes);
}

// Registered memory is the part of an allocation from `address` on.
Result<std::uint64_t> DeviceMemory::name_registered(std::uint64_t allocation, std::uint64_t address,
                                                    std::uint64_t bytes) {
  auto node = ranges_.extract(allocation);
  const auto host = reinterpret_cast<std::uint64_t>(node.mapped().host_access);
  node.key() = node.mapped().address = address;
  node.mapped().bytes = bytes;
  ranges_.insert(std::move(node));
  registered_[host] = address;
  auto aliased = space_.add_alias(host, address, bytes);
  if (aliased && backing_ != nullptr) aliased = backing_->aliased(host, address, bytes);
  if (aliased) return address;
  if (auto freed = free_locked(address); !freed) return freed.error();
  return aliased.error();
}

// The allocation has a page more than the program's pages, because it may start within a page.
Result<std::uint64_t> DeviceMemory::register_shared(std::byte* host, std::uint64_t bytes, MemoryRange range) {
  const HostPages taken = HostPages::around(host, bytes);
  for (const auto& [first, device] : registered_) {
    if (taken.overlaps(HostPages::around(reinterpret_cast<void*>(first), ranges_.at(device).bytes)))
      return Error{"memory of the program that shares a page with registered memory cannot be registered"};
  }
  std::byte* copy = nullptr;
  const auto source = [&](std::uint64_t at, std::uint64_t count) {
    // The pages stay in the file when the context ends: the program goes on using them.
    auto mapped = pages(at, count, false);
    copy = mapped.get();
    return exec::HostBytes(mapped.release(), {[](std::byte*) {}});
  };
  const std::uint64_t page = HostPages::page_bytes();
  auto allocation = add(taken.bytes + page, "registered memory", source, std::move(range));
  if (!allocation) return allocation.error();
  const std::uint64_t first_page = (*allocation + page - 1) / page * page;
  auto shared = share_pages(taken, backing_->file(), first_page - exec::kGlobalBase, copy + (first_page - *allocation));
  if (!shared) {
    if (auto freed = free_locked(*allocation); !freed) return freed.error();
    return shared.error();
  }
  auto named = name_registered(*allocation, first_page + static_cast<std::uint64_t>(host - taken.first), bytes);
  if (!named) {
    if (auto done = unshare_pages(taken); !done) return done.error();
  }
  return named;
}

namespace {

// SMs divide the heap: each has its complete size, as far as addresses go.
std::uint64_t heap_addresses(std::uint64_t bytes, std::uint32_t sms) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 38;
  return bytes > kMost / sms ? std::max(bytes, kMost) : bytes * sms;
}

}  // namespace

Result<void> DeviceMemory::make_heap(std::uint32_t sms, const void* owner) {
  const Writer writer(*this);
  return heap_ != 0 ? Result<void>{} : make_heap_locked(sms, owner);
}

Result<void> DeviceMemory::make_heap_locked(std::uint32_t sms, const void* owner) {
  const auto source = [this](std::uint64_t at, std::uint64_t count) { return pages(at, count, false); };
  auto made =
      add(heap_addresses(heap_bytes_, sms), "heap of kernels", source, {.kind = MemoryKind::heap, .owner = owner});
  if (!made) return made.error();
  auto used = backing_ == nullptr ? Result<void>{} : backing_->heap_placed(*made, heap_bytes_);
  if (used) used = space_.use_as_heap(*made, heap_bytes_);
  if (!used) {
    if (auto freed = free_locked(*made); !freed) return freed.error();
    return used;
  }
  heap_ = *made;
  return {};
}

Result<void> DeviceMemory::set_heap_bytes(std::uint64_t bytes, std::uint32_t sms, const void* owner) {
  const Writer writer(*this);
  if (bytes > limit_) return Error{fmt::format("a heap of {} bytes does not fit: the device has {}", bytes, limit_)};
  const std::uint64_t before = std::exchange(heap_bytes_, bytes), old = heap_;
  if (old != 0 && before != bytes) {
    if (auto made = make_heap_locked(sms, ranges_.at(old).owner); !made) {
      heap_bytes_ = before;
      return made;
    }
    if (auto freed = free_locked(old); !freed) return freed;
  }
  heap_bytes_owner_ = owner;
  return {};
}

Result<void> DeviceMemory::free_locked(std::uint64_t address) {
  const auto at = ranges_.find(address);
  if (at == ranges_.end()) return Error{fmt::format("no allocation starts at {:#x}", address)};
  if (at->second.kind == MemoryKind::registered) {
    registered_.erase(reinterpret_cast<std::uint64_t>(at->second.host_access));
  }
  if (at->second.kind == MemoryKind::device) device_bytes_ -= at->second.bytes;
  if (at->second.kind == MemoryKind::pinned || at->second.kind == MemoryKind::managed)
    shared_bytes_ -= at->second.bytes;
  const std::uint64_t allocation = at->second.allocation;
  if (allocation == heap_) heap_ = 0;
  ranges_.erase(at);
  if (backing_ != nullptr) backing_->freed(allocation);
  return space_.free(allocation);
}

Result<void> DeviceMemory::free(std::uint64_t address) {
  const Writer writer(*this);
  const auto at = ranges_.find(address);
  if (backing_ != nullptr && at != ranges_.end() && at->second.kind == MemoryKind::registered) {
    if (auto done = unshare_pages(HostPages::around(at->second.host_access, at->second.bytes)); !done) return done;
  }
  return free_locked(address);
}

bool DeviceMemory::claim(std::uint64_t address) {
  const Writer writer(*this);
  const auto at = ranges_.find(address);
  if (at == ranges_.end() || at->second.is_claimed) return false;
  at->second.is_claimed = true;
  return true;
}

std::shared_ptr<void> DeviceMemory::attach(std::uint64_t address, std::shared_ptr<void> fresh) {
  const Writer writer(*this);
  const auto at = ranges_.find(address);
  if (at == ranges_.end()) return nullptr;
  if (at->second.attachment == nullptr) at->second.attachment = std::move(fresh);
  return at->second.attachment;
}

void DeviceMemory::free_all_of(const void* owner) {
  const Writer writer(*this);
  std::vector<std::uint64_t> addresses;
  for (const auto& [address, range] : ranges_) {
    if (range.owner == owner) addresses.push_back(address);
  }
  for (const std::uint64_t address : addresses) (void)free_locked(address);
  if (owner == heap_bytes_owner_) heap_bytes_ = kDefaultHeapBytes;
}

const MemoryRange* DeviceMemory::range_at(std::uint64_t address) const {
  const auto inside = [&](std::uint64_t first, const MemoryRange& range) {
    return address >= first && address - first < std::max<std::uint64_t>(range.bytes, 1);
  };
  if (auto at = ranges_.upper_bound(address);
      at != ranges_.begin() && inside(std::prev(at)->first, std::prev(at)->second))
    return &std::prev(at)->second;
  if (auto at = registered_.upper_bound(address); at != registered_.begin()) {
    const auto& [host, device] = *std::prev(at);
    const MemoryRange& range = ranges_.at(device);
    if (inside(host, range)) return &range;
  }
  return nullptr;
}

std::optional<MemoryRange> DeviceMemory::find(std::uint64_t address) const {
  const Reader reader(*this);
  const MemoryRange* range = range_at(address);
  if (range == nullptr) return std::nullopt;
  return *range;
}

std::optional<std::uint64_t> DeviceMemory::device_address(std::uint64_t address) const {
  const auto range = find(address);
  if (!range) return std::nullopt;
  if (address - range->address < std::max<std::uint64_t>(range->bytes, 1)) return address;
  return range->address + (address - reinterpret_cast<std::uint64_t>(range->host_access));
}

std::byte* DeviceMemory::bytes_at(std::uint64_t address, std::uint64_t bytes) const {
  if (is_device_address(address)) return space_.at(address, bytes);
  return reinterpret_cast<std::byte*>(address);
}

Result<void> DeviceMemory::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  if (bytes == 0) return {};
  const Reader reader(*this);
  std::byte* target = bytes_at(to, bytes);
  const std::byte* source = bytes_at(from, bytes);
  if (target == nullptr) return Error{fmt::format("copy of {} bytes to {:#x}: {}", bytes, to, space_.nearest(to))};
  if (source == nullptr)
    return Error{fmt::format("copy of {} bytes from {:#x}: {}", bytes, from, space_.nearest(from))};
  std::memmove(target, source, bytes);
  return {};
}

Result<void> DeviceMemory::fill(std::uint64_t to, std::uint32_t value, std::uint32_t width, std::uint64_t count) {
  if (count == 0) return {};
  const Reader reader(*this);
  std::byte* target = bytes_at(to, width * count);
  if (target == nullptr)
    return Error{fmt::format("fill of {} bytes at {:#x}: {}", width * count, to, space_.nearest(to))};
  if (width == 1) {
    std::memset(target, static_cast<int>(value), count);
    return {};
  }
  for (std::uint64_t i = 0; i < count; ++i) std::memcpy(target + i * width, &value, width);
  return {};
}

std::uint64_t DeviceMemory::free_bytes() const {
  const Reader reader(*this);
  return limit_ - device_bytes_;
}

}  // namespace wm::runtime
