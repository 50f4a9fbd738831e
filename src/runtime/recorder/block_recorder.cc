#include "runtime/recorder/block_recorder.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <set>
#include <thread>

#include "ptx/parse.h"
#include "ptx/print.h"

namespace wm::runtime {
namespace {

using cuda::Address;
using cuda::Code;
using cuda::kSuccess;
using SteadyClock = std::chrono::steady_clock;

double microseconds(SteadyClock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

Result<void> checked(Code code, const std::string& doing) {
  if (code == kSuccess) return {};
  return Error{fmt::format("{}: CUDA error {}", doing, code)};
}

// The application's memory and code on the device.
class LoadedApplication {
 public:
  LoadedApplication(cuda::Device& device, const gpu::Application& application)
      : cuda_(device.cuda), application_(application) {}
  LoadedApplication(const LoadedApplication&) = delete;
  LoadedApplication& operator=(const LoadedApplication&) = delete;
  ~LoadedApplication() {
    for (const Address p : memory_) cuda_.free_words(p);
    if (module_ != nullptr) cuda_.unload_module(module_);
  }

  Result<void> load(const std::string& ptx) {
    if (auto done = checked(cuda_.load_module(&module_, ptx.c_str(), 0, nullptr, nullptr), "loading the kernels");
        !done)
      return done;
    for (const gpu::Buffer& b : application_.buffers) {
      if (auto done = allocate(std::max<std::size_t>(b.bytes, 1)); !done) return done.error();
    }
    return {};
  }
  // Before every run: kernels may have changed the variables.
  Result<void> set_variables() {
    for (const gpu::VariableContent& v : application_.variables) {
      Address at = 0;
      std::size_t bytes = 0;
      if (auto found = checked(cuda_.get_global(&at, &bytes, module_, v.name.c_str()), "finding " + v.name); !found)
        return found;
      if (auto done = upload(at, v.bytes.data(), std::min(bytes, v.bytes.size())); !done) return done;
    }
    return {};
  }

  // The buffers as they are now.
  Result<std::vector<std::vector<std::byte>>> contents() {
    std::vector<std::vector<std::byte>> all;
    for (std::size_t i = 0; i < application_.buffers.size(); ++i) {
      all.emplace_back(application_.buffers[i].bytes);
      if (all.back().empty()) continue;
      if (auto done = download(all.back().data(), memory_[i], all.back().size()); !done) return done.error();
    }
    if (auto done = wait("reading the buffers"); !done) return done.error();
    return all;
  }

  Result<Address> allocate(std::size_t bytes) {
    Address p = 0;
    if (auto done = checked(cuda_.allocate_words(&p, bytes), "allocating memory"); !done) return done.error();
    memory_.push_back(p);
    return p;
  }
  Result<void> upload(Address to, const void* from, std::size_t bytes) {
    return checked(cuda_.copy_to_device(to, from, bytes, nullptr), "copying to the device");
  }
  Result<void> download(void* to, Address from, std::size_t bytes) {
    return checked(cuda_.copy_to_host(to, from, bytes, nullptr), "copying to the host");
  }
  Result<void> clear(Address at, std::size_t bytes) {
    return checked(cuda_.fill_8(at, 0, bytes, nullptr), "clearing memory");
  }
  Result<void> wait(const std::string& doing) { return checked(cuda_.synchronize_stream(nullptr), doing); }

  Result<void> transfer(const gpu::Transfer& t) {
    const gpu::Buffer& b = application_.buffers[t.buffer.index];
    if (t.direction == gpu::Transfer::Direction::to_host) {
      host_.resize(std::max(host_.size(), t.bytes));
      return download(host_.data(), memory_[t.buffer.index] + t.offset, t.bytes);
    }
    if (t.offset >= b.initial.size()) return {};
    return upload(memory_[t.buffer.index] + t.offset, b.initial.data() + t.offset,
                  std::min(t.bytes, b.initial.size() - t.offset));
  }
  Result<void> fill(const gpu::Fill& f) {
    return checked(
        cuda_.fill_8(memory_[f.buffer.index] + f.offset, std::to_integer<unsigned char>(f.value), f.bytes, nullptr),
        "filling memory");
  }

  Result<void> make(const gpu::Step& step) {
    if (const auto* t = std::get_if<gpu::Transfer>(&step)) return transfer(*t);
    if (const auto* f = std::get_if<gpu::Fill>(&step)) return fill(*f);
    return launch(std::get<gpu::Launch>(step), 0);
  }

  Result<cuda::Function> function(const gpu::Launch& launch) {
    cuda::Function found = nullptr;
    if (auto done = checked(cuda_.get_function(&found, module_, launch.kernel.c_str()), "finding " + launch.kernel);
        !done)
      return done.error();
    if (launch.dynamic_shared_bytes > kDefaultSharedBytes)
      cuda_.set_function_attribute(found, cuda::function_attribute::kMaxDynamicShared,
                                   static_cast<int>(launch.dynamic_shared_bytes));
    return found;
  }

  // `times`: the further argument of a kernel that records; 0: the kernel is the original.
  Result<void> launch(const gpu::Launch& l, Address times) {
    auto f = function(l);
    if (!f) return f.error();
    std::vector<std::vector<std::byte>> values;
    for (const gpu::Argument& argument : l.arguments) {
      auto value = value_of(argument);
      if (!value) return Error{l.kernel + ": " + value.error().what};
      values.push_back(*std::move(value));
    }
    if (times != 0) values.push_back(bytes_of_address(times));
    std::vector<void*> pointers;
    for (auto& v : values) pointers.push_back(v.data());
    return checked(cuda_.launch(*f, l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z,
                                static_cast<unsigned>(l.dynamic_shared_bytes), nullptr, pointers.data(), nullptr),
                   "launching " + l.kernel);
  }

  [[nodiscard]] int attribute(cuda::Function f, int which) const {
    int value = 0;
    cuda_.get_function_attribute(&value, which, f);
    return value;
  }

 private:
  static constexpr std::size_t kDefaultSharedBytes = 48 << 10;

  static std::vector<std::byte> bytes_of_address(Address p) {
    std::vector<std::byte> bytes(sizeof p);
    std::memcpy(bytes.data(), &p, sizeof p);
    return bytes;
  }

  Result<std::vector<std::byte>> value_of(const gpu::Argument& argument) const {
    if (const auto* buffer = std::get_if<gpu::BufferArgument>(&argument))
      return bytes_of_address(memory_[buffer->buffer.index] + buffer->offset);
    const auto* scalar = std::get_if<gpu::Scalar>(&argument);
    if (scalar == nullptr) return Error{"the CUDA driver has no local-memory arguments"};
    std::vector<std::byte> bytes = scalar->bytes;
    for (const gpu::Scalar::Address& a : scalar->addresses) {
      const Address p = memory_[a.buffer.index] + a.offset;
      std::memcpy(bytes.data() + a.at, &p, sizeof p);
    }
    return bytes;
  }

  const cuda::DriverCalls& cuda_;
  const gpu::Application& application_;
  cuda::Module module_ = nullptr;
  std::vector<Address> memory_;  // buffers in order, then arrays of block times
  std::vector<std::byte> host_;
};

// The place of the launch's kernel, grid and block among those recorded.
std::size_t place_of(const gpu::Launch& l, std::vector<gpu::Launch>& shapes) {
  const auto same = std::find_if(shapes.begin(), shapes.end(), [&](const gpu::Launch& s) {
    return s.kernel == l.kernel && s.grid == l.grid && s.block == l.block &&
           s.dynamic_shared_bytes == l.dynamic_shared_bytes;
  });
  if (same != shapes.end()) return static_cast<std::size_t>(same - shapes.begin());
  shapes.push_back({l.kernel, l.grid, l.block, {}, l.dynamic_shared_bytes});
  return shapes.size() - 1;
}

// One run of the application, each call timed until the device has done it.
class RecordingRun {
 public:
  RecordingRun(LoadedApplication& loaded, bool records) : loaded_(loaded), records_(records) {}

  Result<void> run(const gpu::Application& application) {
    begin_ = SteadyClock::now();
    for (const gpu::Step& step : application.steps) {
      if (auto done = std::visit([&](const auto& s) { return make(s); }, step); !done) return done;
    }
    return {};
  }

  Recording recording;

 private:
  Result<void> make(const gpu::Transfer& t) {
    const bool up = t.direction == gpu::Transfer::Direction::to_device;
    RecordedCall call{up ? RecordedCall::Kind::copy_to_device : RecordedCall::Kind::copy_to_host, t.bytes};
    return timed(call, [&] { return loaded_.transfer(t); });
  }
  Result<void> make(const gpu::Fill& f) {
    return timed({RecordedCall::Kind::fill, f.bytes}, [&] { return loaded_.fill(f); });
  }
  Result<void> make(const gpu::Launch& l) {
    const std::size_t place = place_of(l, shapes_);
    if (recording.kernels.size() <= place) {
      if (auto added = add_kernel(l); !added) return added;
    }
    RecordedKernel& kernel = recording.kernels[place];
    std::vector<rewrite::BlockTime> times(kernel.blocks);
    const std::size_t bytes = times.size() * sizeof times[0];
    Address array = 0;
    if (records_) {
      auto p = loaded_.allocate(bytes);
      if (!p) return p.error();
      array = *p;
      if (auto done = loaded_.clear(array, bytes); !done) return done;
      if (auto done = loaded_.wait("clearing memory"); !done) return done;
    }
    if (auto done = timed({RecordedCall::Kind::launch, 0, place}, [&] { return loaded_.launch(l, array); }); !done)
      return done;
    if (records_) {
      if (auto done = loaded_.download(times.data(), array, bytes); !done) return done;
      if (auto done = loaded_.wait("reading the blocks"); !done) return done;
    }
    kernel.launches.push_back(std::move(times));
    return {};
  }

  Result<void> add_kernel(const gpu::Launch& l) {
    const auto f = loaded_.function(l);
    if (!f) return f.error();
    RecordedKernel kernel{.name = l.kernel,
                          .blocks = l.grid.count(),
                          .threads = static_cast<std::uint32_t>(l.block.count()),
                          .launches = {}};
    kernel.registers = static_cast<std::uint32_t>(loaded_.attribute(*f, cuda::function_attribute::kRegisters));
    kernel.shared_bytes = l.dynamic_shared_bytes +
                          static_cast<std::uint64_t>(loaded_.attribute(*f, cuda::function_attribute::kSharedBytes));
    recording.kernels.push_back(std::move(kernel));
    return {};
  }

  template <typename Make>
  Result<void> timed(RecordedCall call, const Make& make) {
    call.start_us = now();
    if (auto made = make(); !made) return made;
    call.returned_us = now();
    if (auto done = loaded_.wait("waiting for the device"); !done) return done;
    call.end_us = now();
    recording.calls.push_back(call);
    return {};
  }
  [[nodiscard]] double now() const { return microseconds(SteadyClock::now() - begin_); }

  LoadedApplication& loaded_;
  const bool records_;
  SteadyClock::time_point begin_;
  std::vector<gpu::Launch> shapes_;
};

// Two runs, the second of which is the result.
Result<Recording> run_twice(cuda::Device& device, const std::string& ptx, const gpu::Application& application,
                            bool records) {
  Recording last;
  LoadedApplication loaded(device, application);
  if (auto done = loaded.load(ptx); !done) return done.error();
  for (int i = 0; i < 2; ++i) {
    if (auto done = loaded.set_variables(); !done) return done.error();
    RecordingRun run(loaded, records);
    if (auto done = run.run(application); !done) return done.error();
    last = std::move(run.recording);
  }
  auto buffers = loaded.contents();
  if (!buffers) return buffers.error();
  last.buffers = *std::move(buffers);
  return last;
}

Result<std::string> recording_ptx(std::string_view ptx, const gpu::Application& application) {
  auto module = ptx::parse(ptx);
  if (!module) return module.error();
  std::set<std::string> kernels;
  for (const gpu::Step& step : application.steps) {
    if (const auto* launch = std::get_if<gpu::Launch>(&step)) kernels.insert(launch->kernel);
  }
  for (const std::string& kernel : kernels) {
    if (auto added = rewrite::add_block_times(*module, kernel); !added)
      return Error{kernel + ": " + added.error().what};
  }
  return ptx::print(*module);
}

}  // namespace

Result<Recording> record_blocks(cuda::Device& device, std::string_view ptx, const gpu::Application& application) {
  const auto instrumented = recording_ptx(ptx, application);
  if (!instrumented) return instrumented.error();
  device.make_current();
  const auto original = run_twice(device, std::string(ptx), application, false);
  if (!original) return original.error();
  auto recorded = run_twice(device, *instrumented, application, true);
  if (!recorded) return recorded.error();
  for (std::size_t k = 0; k < recorded->kernels.size(); ++k) {
    RecordedKernel& kernel = recorded->kernels[k];
    kernel.registers = original->kernels[k].registers;
    double sum = 0;
    for (const RecordedCall& call : original->calls) {
      if (call.kind == RecordedCall::Kind::launch && call.kernel == k) sum += call.end_us - call.start_us;
    }
    kernel.unrecorded_us = sum / static_cast<double>(kernel.launches.size());
  }
  return recorded;
}

Result<std::vector<double>> repeat_application(cuda::Device& device, std::string_view ptx,
                                               const gpu::Application& application,
                                               std::chrono::system_clock::time_point begin, double seconds) {
  device.make_current();
  LoadedApplication loaded(device, application);
  if (auto done = loaded.load(std::string(ptx)); !done) return done.error();
  if (auto done = loaded.set_variables(); !done) return done.error();
  const auto run = [&]() -> Result<double> {
    const auto start = SteadyClock::now();
    for (const gpu::Step& step : application.steps) {
      if (auto done = loaded.make(step); !done) return done.error();
    }
    if (auto done = loaded.wait("waiting for the device"); !done) return done.error();
    return microseconds(SteadyClock::now() - start);
  };
  if (auto warm = run(); !warm) return warm.error();
  std::this_thread::sleep_until(begin);
  const auto end = SteadyClock::now() + std::chrono::duration<double>(seconds);
  std::vector<double> times;
  while (true) {
    const auto time = run();
    if (!time) return time.error();
    if (SteadyClock::now() >= end) return times;
    times.push_back(*time);
  }
}

}  // namespace wm::runtime
