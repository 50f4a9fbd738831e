#include "lab/run/isolated.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>

#include "base/file.h"
#include "gpu/gpu_config.h"
#include "lab/run/code_version.h"
#include "lab/run/digest.h"
#include "lab/run/participant.h"

namespace wm::lab {
namespace {

void add(Digest& digest, const gpu::Dim3& d) { digest.add(d.x).add(d.y).add(d.z); }

void add(Digest& digest, const gpu::Argument& argument) {
  digest.add(argument.index());
  if (const auto* s = std::get_if<gpu::Scalar>(&argument)) {
    digest.add(std::span<const std::byte>(s->bytes));
    for (const gpu::Scalar::Address& a : s->addresses) digest.add(a.at).add(a.buffer.index).add(a.offset);
  }
  if (const auto* b = std::get_if<gpu::BufferArgument>(&argument)) digest.add(b->buffer.index).add(b->offset);
  if (const auto* l = std::get_if<gpu::LocalMemory>(&argument)) digest.add(l->bytes);
}

void add(Digest& digest, const gpu::Step& step) {
  digest.add(step.index());
  if (const auto* t = std::get_if<gpu::Transfer>(&step))
    digest.add(static_cast<std::uint64_t>(t->direction)).add(t->buffer.index).add(t->offset).add(t->bytes);
  if (const auto* f = std::get_if<gpu::Fill>(&step))
    digest.add(f->buffer.index).add(f->offset).add(f->bytes).add(std::to_integer<std::uint64_t>(f->value));
  if (const auto* l = std::get_if<gpu::Launch>(&step)) {
    digest.add(l->kernel).add(l->dynamic_shared_bytes).add(l->arguments.size());
    if (l->cooperative) digest.add(std::string("cooperative"));
    add(digest, l->grid);
    add(digest, l->block);
    for (const gpu::Argument& a : l->arguments) add(digest, a);
  }
}

void add(Digest& digest, const gpu::Application& application) {
  digest.add(application.buffers.size());
  for (const gpu::Buffer& b : application.buffers) digest.add(b.bytes).add(std::span<const std::byte>(b.initial));
  digest.add(application.steps.size());
  for (const gpu::Step& s : application.steps) add(digest, s);
  for (const gpu::VariableContent& v : application.variables)
    digest.add(v.name).add(std::span<const std::byte>(v.bytes));
  for (const std::string& kernel : application.texture_kernels) digest.add(kernel);
}

std::string sum_of(const std::string& key, const IsolatedRate& rate) {
  return Digest{}.add(key).add(rate.instructions).add(rate.cycles).hex();
}

std::string text_of(const std::string& key, const IsolatedRate& rate) {
  return fmt::format("alone 1\ninstructions {}\ncycles {}\nsum {}\n", rate.instructions, rate.cycles,
                     sum_of(key, rate));
}

}  // namespace

std::string IsolatedCache::default_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return std::string(cache) + "/warpmux";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.cache/warpmux";
  return {};
}

std::string IsolatedCache::path(const std::string& key) const {
  return folder_ + "/alone/" + key.substr(0, 2) + "/" + key;
}

std::optional<IsolatedRate> IsolatedCache::find(const std::string& key) const {
  if (!enabled() || key.empty()) return std::nullopt;
  const auto text = read_file(path(key));
  if (!text) return std::nullopt;
  std::istringstream words(*text);
  std::string skip;
  IsolatedRate rate;
  words >> skip >> skip >> skip >> rate.instructions >> skip >> rate.cycles;
  if (!words || *text != text_of(key, rate)) return std::nullopt;
  return rate;
}

bool IsolatedCache::keep(const std::string& key, const IsolatedRate& rate) const {
  if (!enabled() || key.empty()) return false;
  const std::filesystem::path place = path(key);
  std::error_code failed;
  std::filesystem::create_directories(place.parent_path(), failed);
  return !failed && write_file(place.string(), text_of(key, rate)).ok();
}

std::string isolated_key(const gpu::GpuConfig& gpu, const Participant& p, std::uint64_t cycles, RegionStart region) {
  if (gpu.source.empty() || p.ptx.empty()) return {};
  Digest digest;
  digest.add(machine_version()).add(gpu.source).add(p.ptx).add(p.entry).add(p.launches).add(cycles);
  add(digest, *p.application);
  if (region.given()) digest.add(region.cycles).add(region.launches);
  return digest.hex();
}

}  // namespace wm::lab
