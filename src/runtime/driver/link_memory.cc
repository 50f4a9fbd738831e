// Where a link's shared memory comes from: staging first, regions of their own for what does not fit.
#include <cstring>

#include "runtime/driver/link.h"

namespace wm::runtime::driver {
namespace {

constexpr std::uint64_t kPage = 4096;

}  // namespace

Chunk Link::take_chunk(std::uint64_t size, bool patient) {
  settle();
  for (;;) {
    {
      const std::lock_guard lock(dividing_);
      if (const auto offset = staging_.take(size)) return {0, 0, *offset, std::max<std::uint64_t>(size, 1)};
    }
    if (size > kStagingBytes || !patient || !wait_for_oldest()) return take_region(size);
    if (lost()) return {};
  }
}

// False: nothing is on its way that would free staging.
bool Link::wait_for_oldest() {
  std::uint32_t oldest = kNoSlot;
  {
    const std::lock_guard lock(settling_);
    for (const Ending& e : endings_) {
      if (e.chunk.region == 0 && e.chunk.size != 0) {
        oldest = e.slot;
        break;
      }
    }
  }
  if (oldest == kNoSlot) return false;
  const std::uint32_t seen = changes();
  if (raw_state(oldest) > 0) wait_for_change(seen);
  settle();
  return true;
}

Chunk Link::take_region(std::uint64_t size) {
  const std::uint64_t wanted = (std::max<std::uint64_t>(size, 1) + kPage - 1) / kPage * kPage;
  {
    const std::lock_guard lock(dividing_);
    for (auto& [id, region] : regions_) {
      if (region.taken || region.map.bytes().size() < wanted || region.map.bytes().size() > 2 * wanted) continue;
      region.taken = true;
      return {id, 0, 0, size};
    }
  }
  Mapping map;
  const std::uint32_t region = ask_region(wanted, map);
  if (region == 0) return {};
  const std::lock_guard lock(dividing_);
  regions_[region] = Region{std::move(map), true};
  return {region, 0, 0, size};
}

std::uint32_t Link::ask_region(std::uint64_t bytes, Mapping& map) {
  const std::lock_guard asking(asking_);
  const RegionRequest request{bytes};
  if (!send_packet(socket_, {reinterpret_cast<const std::byte*>(&request), sizeof request})) return 0;
  const auto packet = receive_packet(socket_, 30'000);
  RegionAnswer answer;
  if (!packet || packet->bytes.size() != sizeof answer) return 0;
  std::memcpy(&answer, packet->bytes.data(), sizeof answer);
  if (answer.region == 0) return 0;
  auto made = Mapping::of(packet->file, bytes);
  if (!made) return 0;
  map = std::move(*made);
  return answer.region;
}

std::uint32_t Link::place_buffer(std::uint64_t size, Mapping& map) {
  constexpr std::uint64_t kWorthIt = 16 * 1024;
  if (!host_memory_ || size < kWorthIt) return 0;
  return ask_region((size + kPage - 1) / kPage * kPage, map);
}

void Link::give_chunk(const Chunk& chunk) {
  std::uint32_t surplus = 0;
  {
    const std::lock_guard lock(dividing_);
    if (chunk.region == 0) {
      staging_.give(chunk.offset, chunk.size);
      return;
    }
    // One idle region is kept for the next transfer of its size; more go back to the system.
    for (const auto& [id, region] : regions_) {
      if (!region.taken) surplus = id;
    }
    regions_[chunk.region].taken = false;
    if (surplus != 0) regions_.erase(surplus);
  }
  if (surplus == 0) return;
  Writer message(Op::release);
  message.put(Release{surplus, Kind::region, 0});
  post(message);
}

std::byte* Link::at(const Chunk& chunk) {
  if (chunk.region == 0) return area_.staging().data() + chunk.offset;
  const std::lock_guard lock(dividing_);
  return regions_[chunk.region].map.bytes().data() + chunk.offset;
}

}  // namespace wm::runtime::driver
