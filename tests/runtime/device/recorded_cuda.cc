#include "runtime/device/recorded_cuda.h"

#include <fmt/format.h>
#include <set>
#include <tuple>

namespace wm::runtime::cuda {
namespace {

constexpr Code kNoContext = 201;

RecordedCuda* recorder = nullptr;
thread_local const RecordedCuda* current = nullptr;  // the driver whose context the thread uses

const std::set<std::string> kNeedNoContext = {"init",        "driver_version", "device_count",     "device_get",
                                              "device_name", "device_memory",  "device_attribute", "retain_context"};
const std::set<std::string> kDestroying = {"destroy_stream", "destroy_event",   "free_words",   "free",
                                           "free_host",      "unregister_host", "unload_module"};
const std::map<std::string, std::string> kMaking = {
    {"create_stream", "stream"}, {"create_event", "event"}, {"allocate_words", "words"},     {"allocate", "memory"},
    {"allocate_host", "host"},   {"load_module", "module"}, {"register_host", "registered"},
};

const void* pointer_of(Address address) { return reinterpret_cast<const void*>(address); }

// The object that the first argument names, or through which it is returned.
template <typename First>
const void* object_of(First first) {
  if constexpr (std::is_same_v<First, Address>) {
    return pointer_of(first);
  } else if constexpr (std::is_same_v<First, Address*>) {
    return pointer_of(*first);
  } else if constexpr (std::is_same_v<First, void**> || std::is_same_v<First, Stream*> ||
                       std::is_same_v<First, Event*> || std::is_same_v<First, Module*>) {
    return *first;
  } else if constexpr (std::is_pointer_v<First>) {
    return reinterpret_cast<const void*>(first);
  } else {
    return nullptr;
  }
}

std::string text(const Copy3D& c) {
  return fmt::format("[{} {} {} {} type {} {}{} pitch {} height {}]", c.from_x, c.from_y, c.from_z, c.from_level,
                     c.from_type, recorder->name(c.from_host), recorder->name(pointer_of(c.from_device)), c.from_pitch,
                     c.from_height) +
         fmt::format("[{} {} {} {} type {} {}{} pitch {} height {}] {}x{}x{}", c.to_x, c.to_y, c.to_z, c.to_level,
                     c.to_type, recorder->name(c.to_host), recorder->name(pointer_of(c.to_device)), c.to_pitch,
                     c.to_height, c.width, c.height, c.depth);
}

// Results, and the arguments of launches, are read by other tests.
template <typename Argument>
std::string text(Argument argument) {
  if constexpr (std::is_same_v<Argument, Address>) {
    return recorder->name(pointer_of(argument));
  } else if constexpr (std::is_same_v<Argument, Stream> || std::is_same_v<Argument, Event> ||
                       std::is_same_v<Argument, Module> || std::is_same_v<Argument, void*> ||
                       std::is_same_v<Argument, const void*>) {
    return recorder->name(argument);
  } else if constexpr (std::is_same_v<Argument, Function>) {
    return *reinterpret_cast<const std::string*>(argument);
  } else if constexpr (std::is_same_v<Argument, const char*>) {
    return argument;
  } else if constexpr (std::is_same_v<Argument, const Copy3D*>) {
    return text(*argument);
  } else if constexpr (std::is_arithmetic_v<Argument>) {
    return fmt::format("{}", argument);
  } else {
    return "*";
  }
}

template <auto Member>
struct Recorded;
template <typename... Arguments, Code (*DriverCalls::*Member)(Arguments...)>
struct Recorded<Member> {
  inline static std::string name;

  static Code call(Arguments... arguments) {
    if (name == "set_context") current = recorder;
    if (const Code refused = recorder->refusal(name); refused != kSuccess) return refused;
    const auto all = std::make_tuple(arguments...);
    std::string line = name;
    if (kDestroying.contains(name)) {
      ((line += " " + text(arguments)), ...);
      recorder->remove(object_of(std::get<0>(all)));
    }
    const Code code = (recorder->inner().*Member)(arguments...);
    if (const auto kind = kMaking.find(name); kind != kMaking.end() && code == kSuccess) {
      std::size_t bytes = 0;
      if constexpr (sizeof...(Arguments) > 1) {
        using Second = std::remove_const_t<std::tuple_element_t<1, decltype(all)>>;
        if constexpr (std::is_same_v<Second, std::size_t>) bytes = std::get<1>(all);
      }
      recorder->add(object_of(std::get<0>(all)), kind->second, bytes);
      line += " " + recorder->name(object_of(std::get<0>(all)));
    }
    if (!kDestroying.contains(name)) ((line += " " + text(arguments)), ...);
    recorder->say(line + (code != kSuccess ? fmt::format(" = {}", code) : ""));
    return code;
  }
};

}  // namespace

RecordedCuda::RecordedCuda(int failing) : inner_(FakeCuda::install(fake_)), failing_(failing) {
  recorder = this;
#define WM_RECORD(member, symbol, parameters)      \
  Recorded<& DriverCalls::member>::name = #member; \
  calls_.member = &Recorded<&DriverCalls::member>::call;
  WM_CUDA_CALLS(WM_RECORD)
#undef WM_RECORD
}

Code RecordedCuda::refusal(const std::string& name) {
  if (current != this && !kNeedNoContext.contains(name)) {
    record_.push_back(name + " without a context");
    return kNoContext;
  }
  if (kDestroying.contains(name) || ++count_ != failing_) return kSuccess;
  record_.push_back(name + " fails");
  return kFailure;
}

void RecordedCuda::add(const void* object, const std::string& kind, std::size_t bytes) {
  objects_[reinterpret_cast<std::uint64_t>(object)] = {fmt::format("{}{}", kind, ++made_[kind]), bytes};
}

std::string RecordedCuda::name(const void* object) const {
  if (object == nullptr) return "none";
  const auto address = reinterpret_cast<std::uint64_t>(object);
  const auto after = objects_.upper_bound(address);
  if (after == objects_.begin()) return "other";
  const auto& [first, found] = *std::prev(after);
  if (address == first) return found.name;
  return address < first + found.bytes ? fmt::format("{}+{}", found.name, address - first) : "other";
}

std::vector<std::string> RecordedCuda::leaked() const {
  std::vector<std::string> names;
  for (const auto& [address, object] : objects_) names.push_back(object.name);
  return names;
}

}  // namespace wm::runtime::cuda
