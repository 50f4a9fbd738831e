#include "runtime/device/recorded_opencl.h"

#include <cstring>
#include <fmt/format.h>
#include <tuple>

#include "runtime/device/null_opencl.h"

namespace wm::runtime::test {
namespace {

OpenClRecord* record = nullptr;

template <typename Object>
constexpr const char* kind_of() {
  if constexpr (std::is_same_v<Object, cl_mem>) return "memory";
  if constexpr (std::is_same_v<Object, cl_sampler>) return "sampler";
  if constexpr (std::is_same_v<Object, cl_command_queue>) return "queue";
  if constexpr (std::is_same_v<Object, cl_program>) return "program";
  if constexpr (std::is_same_v<Object, cl_kernel>) return "kernel";
  if constexpr (std::is_same_v<Object, cl_event>) return "event";
  return nullptr;
}

// The extents that a pointer to sizes has in the function.
std::size_t extents(const std::string& function, cl_uint dimensions) {
  return function == "EnqueueNDRangeKernel" ? dimensions : function.starts_with("Create") ? 1 : 3;
}

std::string sizes(const std::size_t* values, std::size_t count) {
  if (values == nullptr) return "none";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : "x") + std::to_string(values[i]);
  return text;
}

std::string text(const cl_image_desc& d) {
  return fmt::format("[type {:x} {}x{}x{} array {} pitches {} {} levels {} samples {} of {}]", d.image_type,
                     d.image_width, d.image_height, d.image_depth, d.image_array_size, d.image_row_pitch,
                     d.image_slice_pitch, d.num_mip_levels, d.num_samples, record->name(d.mem_object));
}

template <typename Argument>
std::string text(const std::string& function, cl_uint dimensions, Argument argument) {
  if constexpr (kind_of<Argument>() != nullptr) {
    return record->name(argument);
  } else if constexpr (std::is_integral_v<Argument>) {
    return std::to_string(argument);
  } else if constexpr (std::is_same_v<Argument, const std::size_t*>) {
    return sizes(argument, extents(function, dimensions));
  } else if constexpr (std::is_same_v<Argument, const cl_event*> || std::is_same_v<Argument, const cl_program*>) {
    return argument == nullptr ? "none" : record->name(*argument);
  } else if constexpr (std::is_same_v<Argument, const cl_image_desc*>) {
    return text(*argument);
  } else if constexpr (std::is_same_v<Argument, const cl_image_format*>) {
    return fmt::format("[{:x} {:x}]", argument->image_channel_order, argument->image_channel_data_type);
  } else if constexpr (std::is_same_v<Argument, const char*>) {
    return argument;
  } else if constexpr (std::is_same_v<Argument, const void*>) {
    if (function != "CreateSubBuffer") return argument == nullptr ? "none" : "host";
    const auto& part = *static_cast<const cl_buffer_region*>(argument);
    return fmt::format("[{} {}]", part.origin, part.size);
  } else {
    return argument == nullptr ? "none" : "*";
  }
}

// Answers a query with what the test says; false: it says nothing.
bool answered(cl_uint what, std::size_t room, void* value, std::size_t* needed) {
  if (const auto text = record->texts.find(what); text != record->texts.end()) {
    if (needed != nullptr) *needed = text->second.size() + 1;
    if (value != nullptr) std::memcpy(value, text->second.c_str(), std::min(room, text->second.size() + 1));
    return true;
  }
  const auto number = record->numbers.find(what);
  if (number == record->numbers.end()) return false;
  if (needed != nullptr) *needed = sizeof number->second;
  if (value != nullptr) std::memcpy(value, &number->second, std::min(room, sizeof number->second));
  return true;
}

template <auto Member>
struct Recorded;
template <typename Result, typename... Arguments, Result (*NativeCalls::*Member)(Arguments...)>
struct Recorded<Member> {
  inline static std::string name;
  using All = std::tuple<Arguments...>;
  static constexpr std::size_t kCount = sizeof...(Arguments);
  using Last = std::tuple_element_t<kCount - 1, All>;

  static Result failed(const All& all) {
    if constexpr (std::is_same_v<Result, cl_int>) {
      return OpenClRecord::kFailure;
    } else {
      if constexpr (std::is_same_v<Last, cl_int*>) {
        if (std::get<kCount - 1>(all) != nullptr) *std::get<kCount - 1>(all) = OpenClRecord::kFailure;
      }
      return nullptr;
    }
  }
  static bool asked(const All& all) {
    if constexpr (kCount >= 4 && std::is_same_v<Last, std::size_t*>) {
      if constexpr (std::is_same_v<std::tuple_element_t<kCount - 2, All>, void*>) {
        return answered(static_cast<cl_uint>(std::get<kCount - 4>(all)), std::get<kCount - 3>(all),
                        std::get<kCount - 2>(all), std::get<kCount - 1>(all));
      }
    }
    return false;
  }
  static cl_uint dimensions(const All& all) {
    if constexpr (kCount > 2) {
      if constexpr (std::is_same_v<std::tuple_element_t<2, All>, cl_uint>) return std::get<2>(all);
    }
    return 1;
  }

  static Result call(Arguments... arguments) {
    const All all(arguments...);
    const bool releases = name.starts_with("Release");
    if (!releases && record->fails(name)) return failed(all);
    std::string line = name;
    const auto add = [&] { ((line += " " + text(name, dimensions(all), arguments)), ...); };
    if (releases) add();
    if constexpr (kCount == 1 && kind_of<Last>() != nullptr) {
      if (releases) record->remove(std::get<0>(all));
    }
    Result result{};
    if (!asked(all)) result = (record->inner.*Member)(arguments...);
    if constexpr (kind_of<Result>() != nullptr) {
      if (result != nullptr) record->add(result, kind_of<Result>());
      line += " " + record->name(result) + " =";
    }
    if constexpr (std::is_same_v<Last, cl_event*>) {
      if (std::get<kCount - 1>(all) != nullptr && result == Result{}) {
        record->add(*std::get<kCount - 1>(all), "event");
        line += " " + record->name(*std::get<kCount - 1>(all)) + " =";
      }
    }
    if (!releases) add();
    record->say(line);
    return result;
  }
};

// A driver's functions are set where the test driver has them.
class RecordedOpenCl final : public Native {
 public:
  explicit RecordedOpenCl(std::unique_ptr<Native> inner) : inner_(std::move(inner)) {
    record->inner = inner_->cl;
#define WM_RECORD(function)                            \
  Recorded<& NativeCalls::function>::name = #function; \
  if (record->inner.function != nullptr) cl.function = &Recorded<&NativeCalls::function>::call;
    WM_NATIVE_CALLS(WM_RECORD)
#undef WM_RECORD
  }

 private:
  std::unique_ptr<Native> inner_;
};

}  // namespace

std::unique_ptr<Native> OpenClRecord::driver(bool cpu) {
  record = this;
  return std::make_unique<RecordedOpenCl>(null_opencl(cpu));
}

bool OpenClRecord::fails(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (++count_ != failing_) return false;
  lines_.push_back(name + " fails");
  return true;
}

void OpenClRecord::add(const void* object, const std::string& kind) {
  const std::lock_guard lock(mutex_);
  objects_[object] = fmt::format("{}{}", kind, ++made_[kind]);
}

std::string OpenClRecord::name(const void* object) const {
  const std::lock_guard lock(mutex_);
  if (object == nullptr) return "none";
  const auto found = objects_.find(object);
  return found == objects_.end() ? "other" : found->second;
}

std::vector<std::string> OpenClRecord::leaked() const {
  std::vector<std::string> names;
  for (const auto& [object, name] : objects_) names.push_back(name);
  return names;
}

}  // namespace wm::runtime::test
