// The zoo's benchmarks as one CUDA program that opens libcuda.so.1 by name: each leaves the buffers that the executor
// leaves, to the bit, or, where the order of blocks may show, results that the benchmark itself accepts. Prints a line
// of JSON when it is told to end (rounds.h).
//
//   zoo [NAME…]
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "driver_calls.h"
#include "exec/address_space.h"
#include "exec/run.h"
#include "kernels/benchmark.h"
#include "ptx/parse.h"
#include "rounds.h"

namespace {

using namespace wm;
using driver_calls::cu;

class Buffers {
 public:
  explicit Buffers(const gpu::Application& app) : app_(app) {
    for (const gpu::Buffer& b : app.buffers) {
      cu("cuMemAlloc_v2", &addresses_.emplace_back(0), std::max<std::size_t>(b.bytes, 4));
      cu("cuMemsetD8_v2", addresses_.back(), static_cast<unsigned char>(exec::kPoison),
         std::max<std::size_t>(b.bytes, 4));
    }
  }
  [[nodiscard]] unsigned long long address(gpu::BufferId id, std::size_t offset) const {
    return addresses_[id.index] + offset;
  }
  void run(const gpu::Transfer& t) const {
    if (t.direction == gpu::Transfer::Direction::to_host) return;
    const auto& from = app_.buffers[t.buffer.index].initial;
    const std::size_t bytes = std::min(t.bytes, from.size() - std::min(t.offset, from.size()));
    if (bytes != 0)
      cu("cuMemcpyHtoD_v2", address(t.buffer, t.offset), static_cast<const void*>(from.data() + t.offset), bytes);
  }
  void run(const gpu::Fill& f) const {
    cu("cuMemsetD8_v2", address(f.buffer, f.offset), static_cast<unsigned char>(f.value), f.bytes);
  }
  [[nodiscard]] std::vector<std::vector<std::byte>> contents() const {
    std::vector<std::vector<std::byte>> read;
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
      read.emplace_back(app_.buffers[i].bytes);
      if (!read.back().empty())
        cu("cuMemcpyDtoH_v2", static_cast<void*>(read.back().data()), addresses_[i], read.back().size());
    }
    return read;
  }

 private:
  const gpu::Application& app_;
  std::vector<unsigned long long> addresses_;
};

void launch(void* module, const gpu::Launch& l, const Buffers& buffers) {
  std::vector<std::vector<std::byte>> values;
  for (const gpu::Argument& a : l.arguments) {
    const auto* buffer = std::get_if<gpu::BufferArgument>(&a);
    if (buffer == nullptr) {
      values.push_back(std::get<gpu::Scalar>(a).bytes);
      continue;
    }
    const unsigned long long address = buffers.address(buffer->buffer, buffer->offset);
    std::memcpy(values.emplace_back(sizeof address).data(), &address, sizeof address);
  }
  std::vector<void*> parameters;
  for (auto& v : values) parameters.push_back(v.data());
  void* function = nullptr;
  cu("cuModuleGetFunction", &function, module, l.kernel.c_str());
  cu("cuLaunchKernel", function, l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z,
     static_cast<unsigned>(l.dynamic_shared_bytes), static_cast<void*>(nullptr), parameters.data(),
     static_cast<void**>(nullptr));
}

bool is_right(const zoo::Entry& entry) {
  const zoo::Case c = entry.benchmark.make(zoo::Size::small);
  const auto module = ptx::parse(std::string(entry.ptx), entry.benchmark.name);
  const auto expected = exec::run_application(*module, c.application);
  void* loaded = nullptr;
  cu("cuModuleLoadData", &loaded, static_cast<const void*>(std::string(entry.ptx).c_str()));
  const Buffers buffers(c.application);
  for (const gpu::Step& step : c.application.steps) {
    if (const auto* l = std::get_if<gpu::Launch>(&step)) launch(loaded, *l, buffers);
    if (const auto* t = std::get_if<gpu::Transfer>(&step)) buffers.run(*t);
    if (const auto* f = std::get_if<gpu::Fill>(&step)) buffers.run(*f);
  }
  cu("cuCtxSynchronize");
  const auto contents = buffers.contents();
  cu("cuModuleUnload", loaded);
  if (!c.check) return expected.ok() && contents == expected->buffers;
  // The order of blocks may show.
  return zoo::verify(c, [&](gpu::BufferId id) -> const std::vector<std::byte>& { return contents[id.index]; }).ok();
}

}  // namespace

int main(int count, char** arguments) {
  void* context = nullptr;
  driver_calls::library = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver_calls::library == nullptr) return 1;
  cu("cuInit", 0U);
  cu("cuDevicePrimaryCtxRetain", &context, 0);
  cu("cuCtxSetCurrent", context);
  int benchmarks = 0;
  std::string wrong;
  for (const zoo::Entry& entry : zoo::entries()) {
    if (count > 2 && std::find(arguments + 2, arguments + count, entry.benchmark.name) == arguments + count) continue;
    if (entry.benchmark.constant_pointers) continue;
    ++benchmarks;
    if (!is_right(entry)) wrong += " " + entry.benchmark.name;
  }
  std::puts("all benchmarks have run");
  std::fflush(stdout);
  for (Rounds rounds("told"); rounds.next();) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::printf("{\"benchmarks\": %d, \"wrong\": \"%s\"}\n", benchmarks, wrong.c_str());
}
