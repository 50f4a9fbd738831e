#include "sim/cycle/client.h"

#include <algorithm>
#include <fmt/format.h>

#include "exec/run.h"
#include "ptx/analysis.h"
#include "ptx/predication.h"
#include "ptx/schedule.h"
#include "ptx/unroll.h"

namespace wm::sim {

Result<std::unique_ptr<Client>> Client::make(ClientSpec spec, const gpu::GpuConfig& config) {
  std::unique_ptr<Client> c(new Client(std::move(spec)));
  c->config_ = &config;
  if (c->spec_.source != nullptr) return c;
  c->module_ = *c->spec_.module;
  if (config.assembled)
    for (ptx::Function& f : c->module_.functions) f = ptx::in_latency_order(ptx::predicated(ptx::unrolled(f)));
  // Two slices share a kilobyte there: a buffer of that size has both to itself, as where the GPUs were measured.
  if (config.l2.chunks > 1) c->memory_.align_to(1024);
  auto image = exec::Image::load(c->module_, c->memory_);
  if (!image) return image.error();
  c->image_ = std::make_unique<exec::Image>(*std::move(image));
  for (const gpu::Buffer& b : c->spec_.application->buffers) {
    auto address = c->memory_.allocate(b.bytes, b.name);
    if (!address) return address.error();
    c->addresses_.push_back(*address);
  }
  for (const gpu::Step& s : c->spec_.application->steps) {
    const auto* launch = std::get_if<gpu::Launch>(&s);
    if (launch == nullptr || (!c->spec_.entry.empty() && launch->kernel != c->spec_.entry)) continue;
    c->timed_any_ = true;
    auto k = c->kernel(launch->kernel);
    if (!k) return k.error();
  }
  if (!c->timed_any_) return Error{fmt::format("'{}' never launches '{}'", c->spec_.name, c->spec_.entry)};
  return c;
}

Result<Client::Kernel*> Client::kernel(const std::string& entry) {
  auto& k = kernels_[entry];
  if (k != nullptr) return k.get();
  auto program = exec::decode(module_, entry, spec_.file);
  if (!program) return program.error();
  auto constants = image_->link(**program);
  if (!constants) return constants.error();
  k = std::make_unique<Kernel>();
  k->program = *program;
  k->constants = *constants;
  const auto& textures = spec_.application->texture_kernels;
  const bool fetches_textures = std::find(textures.begin(), textures.end(), entry) != textures.end();
  k->timed = time_program(*program, *config_, &module_, fetches_textures);
  const ptx::Function* function = spec_.module->entry(entry);
  k->registers = ptx::register_demand(*spec_.module, *function).registers;
  return k.get();
}

Result<exec::Grid> Client::grid(const gpu::Launch& launch) {
  auto k = kernel(launch.kernel);
  if (!k) return k.error();
  auto made = exec::make_grid((*k)->program, (*k)->constants, memory_, launch, addresses_);
  if (!made) return made.error();
  made->id = ++grids_;
  if (runs_ == 0) made->print = spec_.print;
  return made;
}

Result<void> Client::transfer(const gpu::Transfer& t) {
  if (t.direction == gpu::Transfer::Direction::to_host) return {};
  const gpu::Buffer& b = spec_.application->buffers[t.buffer.index];
  if (t.offset >= b.initial.size()) return {};
  const std::size_t bytes = std::min(t.bytes, b.initial.size() - t.offset);
  return memory_.write(addresses_[t.buffer.index] + t.offset, b.initial.data() + t.offset, bytes);
}

Result<void> Client::run_functionally(const gpu::Launch& launch) {
  const auto g = grid(launch);
  if (!g) return g.error();
  const exec::LaunchResult done = exec::run_launch(*g);
  if (done.fault) return Error{done.fault->to_string()};
  return {};
}

Result<bool> Client::next_launch() {
  if (spec_.source != nullptr) {
    auto next = spec_.source->next();
    if (!next) return next.error();
    if (!next->has_value()) return false;
    current_ = **std::move(next);
    return true;
  }
  const std::vector<gpu::Step>& steps = spec_.application->steps;
  while (true) {
    if (step_ == steps.size()) {
      ++runs_;
      if (runs_ == 1 && spec_.first_run_done) spec_.first_run_done(*this);
      if (spec_.launches != 0 && runs_ >= spec_.launches) return false;
      step_ = 0;
    }
    if (step_ == 0)
      if (auto r = image_->write(spec_.application->variables, memory_); !r) return r.error();
    const gpu::Step& s = steps[step_++];
    if (const auto* t = std::get_if<gpu::Transfer>(&s)) {
      if (auto r = transfer(*t); !r) return r.error();
      continue;
    }
    if (const auto* f = std::get_if<gpu::Fill>(&s)) {
      if (auto r = memory_.fill(addresses_[f->buffer.index] + f->offset, f->value, f->bytes); !r) return r.error();
      continue;
    }
    const auto& launch = std::get<gpu::Launch>(s);
    if (!spec_.entry.empty() && launch.kernel != spec_.entry) {
      if (auto r = run_functionally(launch); !r) return r.error();
      continue;
    }
    auto g = grid(launch);
    if (!g) return g.error();
    Kernel* k = *kernel(launch.kernel);
    current_.grid = *std::move(g);
    current_.program = &k->timed;
    current_.demand = {.threads = current_.grid.threads_per_block(),
                       .registers_per_thread = k->registers,
                       .shared_bytes = current_.grid.shared_bytes};
    const std::string key = fmt::format("{} {} {} {} {} {} {}", launch.kernel, launch.grid.x, launch.grid.y,
                                        launch.grid.z, launch.block.x, launch.block.y, launch.block.z);
    const auto it = std::find(functions_.begin(), functions_.end(), key);
    current_.function = static_cast<std::uint32_t>(it - functions_.begin());
    if (it == functions_.end()) functions_.push_back(key);
    return true;
  }
}

Result<void> Client::finish_functionally() {
  const std::vector<gpu::Step>& steps = spec_.application->steps;
  for (; step_ < steps.size(); ++step_)
    if (const auto* launch = std::get_if<gpu::Launch>(&steps[step_]))
      if (auto r = run_functionally(*launch); !r) return r;
  return {};
}

Result<std::vector<std::vector<std::byte>>> Client::buffers() const {
  std::vector<std::vector<std::byte>> all;
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    std::vector<std::byte> bytes(spec_.application->buffers[i].bytes);
    if (auto r = memory_.read(addresses_[i], bytes.data(), bytes.size()); !r) return r.error();
    all.push_back(std::move(bytes));
  }
  return all;
}

}  // namespace wm::sim
