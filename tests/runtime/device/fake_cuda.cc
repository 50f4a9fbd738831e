#include "runtime/device/fake_cuda.h"

#include <cstdlib>
#include <cstring>

namespace wm::runtime::cuda {
namespace {

FakeCuda* fake = nullptr;

struct FakeStream {
  int priority;
};
struct FakeFunction {
  std::string name;
};

template <typename Handle, typename Object>
Handle handle(Object* object) {
  return reinterpret_cast<Handle>(object);
}

Code done(const char* what) {
  fake->log.emplace_back(what);
  return kSuccess;
}

int attribute_value(int what) {
  switch (what) {
    case attribute::kMultiprocessors:
      return 4;
    case attribute::kThreadsPerMultiprocessor:
      return 2048;
    case attribute::kBlocksPerMultiprocessor:
      return 32;
    case attribute::kSharedPerMultiprocessor:
      return 228 << 10;
    case attribute::kSharedPerBlockOptin:
      return 227 << 10;
    case attribute::kReservedSharedPerBlock:
      return 1024;
    case attribute::kComputeMajor:
      return fake->compute_major;
    default:
      return 0;
  }
}

void set_streams(DriverCalls& c) {
  c.priority_range = [](int* least, int* greatest) { return *least = 0, *greatest = -5, kSuccess; };
  c.create_stream = [](Stream* s, unsigned, int priority) {
    return *s = handle<Stream>(new FakeStream{priority}), kSuccess;
  };
  c.destroy_stream = [](Stream s) { return delete reinterpret_cast<FakeStream*>(s), kSuccess; };
  c.synchronize_stream = [](Stream) { return fake->failure; };
  c.wait_event = [](Stream, Event, unsigned) { return done("wait"); };
  c.write_value = [](Stream, Address to, std::uint32_t value, unsigned) {
    if (!fake->is_pinned(to)) return done(value != 0 ? "write 1" : "write 0");
    fake->completions.emplace_back(to, value);
    if (fake->complete) fake->finish();
    return kSuccess;
  };
  c.create_event = [](Event* e, unsigned) { return *e = handle<Event>(new int), kSuccess; };
  c.destroy_event = [](Event e) { return delete reinterpret_cast<int*>(e), kSuccess; };
  c.record_event = [](Event, Stream) { return kSuccess; };
  c.query_event = [](Event) { return fake->failure != 0 ? fake->failure : fake->complete ? kSuccess : kNotReady; };
  c.synchronize_event = [](Event) { return fake->failure; };
  c.elapsed = [](float* ms, Event, Event) {
    if (fake->on_elapsed) fake->on_elapsed();
    return *ms = fake->milliseconds, kSuccess;
  };
}

void set_memory(DriverCalls& c) {
  c.allocate_words = [](Address* a, std::size_t bytes) {
    return *a = reinterpret_cast<Address>(std::calloc(1, bytes)), done("words");
  };
  c.free_words = [](Address a) { return std::free(reinterpret_cast<void*>(a)), kSuccess; };
  c.allocate = [](Address* a, std::size_t bytes, Stream) {
    return *a = reinterpret_cast<Address>(std::calloc(1, bytes)), done("alloc");
  };
  c.free = [](Address a, Stream) { return std::free(reinterpret_cast<void*>(a)), done("free"); };
  c.default_pool = [](Pool* pool, int) { return *pool = handle<Pool>(fake), kSuccess; };
  c.set_pool_attribute = [](Pool, int, void* value) {
    return std::memcpy(&fake->pool_threshold, value, sizeof fake->pool_threshold), kSuccess;
  };
  c.allocate_host = [](void** p, std::size_t bytes, unsigned) {
    *p = std::calloc(1, bytes);
    fake->pinned[reinterpret_cast<Address>(*p)] = bytes;
    return done("pinned");
  };
  c.free_host = [](void* p) { return std::free(p), kSuccess; };
  c.register_host = [](void*, std::size_t, unsigned) { return done("register"); };
  c.unregister_host = [](void*) { return done("unregister"); };
  c.copy_to_device = [](Address to, const void* from, std::size_t bytes, Stream) {
    return std::memcpy(reinterpret_cast<void*>(to), from, bytes), done("to device");
  };
  c.copy_to_host = [](void* to, Address from, std::size_t bytes, Stream) {
    return std::memcpy(to, reinterpret_cast<void*>(from), bytes), done("to host");
  };
  c.copy = [](Address to, Address from, std::size_t bytes, Stream) {
    return std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes), done("copy");
  };
  c.copy_3d = [](const Copy3D* r, Stream) {
    const auto* from = r->from_host != nullptr ? static_cast<const char*>(r->from_host)
                                               : reinterpret_cast<const char*>(r->from_device);
    auto* to = r->to_host != nullptr ? static_cast<char*>(r->to_host) : reinterpret_cast<char*>(r->to_device);
    for (std::size_t y = 0; y < r->height; ++y) std::memcpy(to + y * r->to_pitch, from + y * r->from_pitch, r->width);
    return done("rectangle");
  };
  c.fill_8 = [](Address to, unsigned char value, std::size_t n, Stream) {
    return std::memset(reinterpret_cast<void*>(to), value, n), done("fill");
  };
  c.fill_16 = [](Address to, unsigned short value, std::size_t n, Stream) {
    for (std::size_t i = 0; i < n; ++i) std::memcpy(reinterpret_cast<char*>(to) + 2 * i, &value, 2);
    return done("fill");
  };
  c.fill_32 = [](Address to, unsigned value, std::size_t n, Stream) {
    for (std::size_t i = 0; i < n; ++i) std::memcpy(reinterpret_cast<char*>(to) + 4 * i, &value, 4);
    return done("fill");
  };
  c.fill_rows_32 = [](Address to, std::size_t pitch, unsigned value, std::size_t, std::size_t rows, Stream) {
    for (std::size_t i = 0; i < rows; ++i) std::memcpy(reinterpret_cast<char*>(to) + pitch * i, &value, 4);
    return done("fill");
  };
}

void set_modules(DriverCalls& c) {
  c.load_module = [](Module* m, const void* text, unsigned, int*, void**) {
    fake->module_text = static_cast<const char*>(text);
    return *m = handle<Module>(fake), kSuccess;
  };
  c.unload_module = [](Module) { return done("unload"); };
  c.get_function = [](Function* f, Module, const char* name) {
    static std::set<std::string> names;
    return *f = handle<Function>(const_cast<std::string*>(&*names.insert(name).first)), kSuccess;
  };
  c.get_global = [](Address*, std::size_t*, Module, const char*) { return kInvalidValue; };
  c.get_function_attribute = [](int* value, int what, Function) {
    *value = what == function_attribute::kMaxThreads    ? 1024
             : what == function_attribute::kSharedBytes ? fake->static_shared
             : what == function_attribute::kRegisters   ? fake->registers
                                                        : 0;
    return kSuccess;
  };
  c.set_function_attribute = [](Function, int what, int value) {
    if (what == function_attribute::kSharedCarveout) fake->carveouts.push_back(value);
    return kSuccess;
  };
  c.blocks_per_multiprocessor = [](int* n, Function, int, std::size_t) { return *n = fake->fit, kSuccess; };
  c.launch = [](Function f, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned d, unsigned shared,
                Stream stream, void** parameters, void**) {
    FakeCuda::Launch launch{*reinterpret_cast<std::string*>(f),
                            reinterpret_cast<FakeStream*>(stream)->priority,
                            x * y * z,
                            a * b * d,
                            shared,
                            {}};
    for (std::size_t i = 0; i < fake->parameters_of_launch; ++i) {
      std::uint64_t value = 0;
      std::memcpy(&value, parameters[i], sizeof value);
      launch.parameters.push_back(value);
    }
    if (fake->on_launch) fake->on_launch(launch.kernel, parameters);
    fake->launches.push_back(std::move(launch));
    return done("launch");
  };
}

}  // namespace

DriverCalls FakeCuda::install(FakeCuda& with) {
  fake = &with;
  DriverCalls c;
  c.init = [](unsigned) { return kSuccess; };
  c.driver_version = [](int* v) { return *v = 13000, kSuccess; };
  c.device_count = [](int* n) { return *n = fake->devices, kSuccess; };
  c.device_get = [](int* d, int) { return *d = 0, kSuccess; };
  c.device_name = [](char* name, int, int) { return std::strcpy(name, "fake"), kSuccess; };
  c.device_memory = [](std::size_t* n, int) { return *n = 1 << 30, kSuccess; };
  c.device_attribute = [](int* v, int what, int) { return *v = attribute_value(what), kSuccess; };
  c.retain_context = [](Context* context, int) { return *context = handle<Context>(fake), kSuccess; };
  c.set_context = [](Context) { return kSuccess; };
  set_streams(c);
  set_memory(c);
  set_modules(c);
  return c;
}

}  // namespace wm::runtime::cuda
