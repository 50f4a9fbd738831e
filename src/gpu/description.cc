#include "gpu/description.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "base/file.h"
#include "base/nearest.h"
#include "base/yaml_map.h"
#include "gpu/content.h"

namespace wm::gpu {
namespace {

constexpr std::uint64_t kLargestBuffer = std::uint64_t{1} << 36;
constexpr std::uint32_t kMaxRepeat = 100000;

// 4, or [4, 2], or [4, 2, 1]; every extent at least 1.
Result<Dim3> read_extent(const yaml::Value& value, const std::string& what) {
  std::vector<std::uint32_t> extents(1);
  const Result<void> done =
      value.kind == yaml::Value::Kind::list ? yaml::read(value, what, extents) : yaml::read(value, what, extents[0]);
  if (!done) return done.error();
  if (extents.empty() || extents.size() > 3) return Error{what + " has one to three extents", value.place};
  if (std::count(extents.begin(), extents.end(), 0U) != 0) return Error{what + " must not be zero", value.place};
  extents.resize(3, 1);
  return Dim3{extents[0], extents[1], extents[2]};
}

class Reader {
 public:
  Reader(const yaml::Value& file, const std::string& path) : top_(file, "") {
    const std::filesystem::path where(path);
    folder_ = where.parent_path().string();
    description_.name = where.stem().string();
  }

  Result<Description> read() {
    std::string ptx;
    top_.optional("about", description_.about).required("ptx", ptx);
    const yaml::Value* buffers = top_.take("buffers");
    const yaml::Value* variables = top_.take("variables");
    const yaml::Value* launches = top_.take("launches");
    if (launches == nullptr) {
      auto launch = read_launch(top_, buffers);
      if (!launch) return launch.error();
      add_launch(*launch, 1);
    } else {
      for (const char* key : {"entry", "grid", "block", "arguments", "shared", "cooperative"}) {
        if (const yaml::Value* value = top_.take(key)) {
          return Error{fmt::format("'{}' belongs into each of the 'launches'", key), value->place};
        }
      }
      if (auto done = top_.finish(); !done) return done.error();
      if (auto done = read_launches(*launches, buffers); !done) return done.error();
    }
    if (variables != nullptr) {
      if (auto done = read_variables(*variables); !done) return done.error();
    }
    description_.ptx_path = (std::filesystem::path(folder_) / ptx).string();
    add_transfers();
    return std::move(description_);
  }

 private:
  static void take_extent(yaml::Map& map, const char* key, Dim3& out) {
    const yaml::Value* value = map.take(key);
    if (value == nullptr) return map.miss(key);
    const auto extent = read_extent(*value, map.label(key));
    if (extent) out = *extent;
    map.keep(extent ? Result<void>{} : Result<void>(extent.error()));
  }

  static void take_block(yaml::Map& map, Dim3& out) {
    constexpr std::uint32_t kMaxZ = 64;  // threads, the limit of every NVIDIA GPU so far
    const yaml::Value* value = map.take("block");
    take_extent(map, "block", out);
    if (value != nullptr && out.z > kMaxZ)
      map.keep(Error{fmt::format("{} has {} threads in z; GPUs run at most {}", map.label("block"), out.z, kMaxZ),
                     value->place});
  }

  // The keys of one launch; these are all that is left in `map`. Buffers are read once, before the first arguments.
  Result<Launch> read_launch(yaml::Map& map, const yaml::Value* buffers) {
    Launch launch;
    Bytes shared;
    map.required("entry", launch.kernel).optional("shared", shared).optional("cooperative", launch.cooperative);
    take_extent(map, "grid", launch.grid);
    take_block(map, launch.block);
    const yaml::Value* arguments = map.take("arguments");
    if (auto done = map.finish(); !done) return done.error();
    launch.dynamic_shared_bytes = shared.count;
    if (buffers != nullptr && description_.application.buffers.empty()) {
      if (auto done = read_buffers(*buffers); !done) return done.error();
    }
    if (arguments != nullptr) {
      if (auto done = read_arguments(*arguments, launch); !done) return done.error();
    }
    return launch;
  }

  Result<void> read_launches(const yaml::Value& value, const yaml::Value* buffers) {
    if (value.kind != yaml::Value::Kind::list || value.items.empty())
      return Error{"'launches' must be a list of launches", value.place};
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      yaml::Map map(value.items[i], fmt::format("launch {}", i + 1));
      std::uint32_t repeat = 1;
      map.optional("repeat", repeat);
      auto launch = read_launch(map, buffers);
      if (!launch) return launch.error();
      if (repeat == 0 || repeat > kMaxRepeat)
        return Error{fmt::format("'repeat' in launch {} must be from 1 to {}", i + 1, kMaxRepeat),
                     value.items[i].place};
      add_launch(*launch, repeat);
    }
    return {};
  }

  void add_launch(const Launch& launch, std::uint32_t repeat) {
    if (description_.entry.empty()) description_.entry = launch.kernel;
    for (std::uint32_t i = 0; i < repeat; ++i) description_.application.launch(launch);
  }

  Result<void> read_variables(const yaml::Value& value) {
    if (value.kind != yaml::Value::Kind::map) return Error{"'variables' must be a map", value.place};
    for (const yaml::Member& member : value.members) {
      yaml::Map map(member.value, member.key);
      auto shape = read_shape(map, member);
      if (!shape) return shape.error();
      const yaml::Value* content = map.take("content");
      if (content == nullptr) map.miss("content");
      if (auto done = map.finish(); !done) return done;
      auto bytes = read_content(*content, map.label("content"), shape->element, shape->count, folder_);
      if (!bytes) return bytes.error();
      description_.application.variables.push_back({member.key, *std::move(bytes)});
    }
    return {};
  }

  struct Shape {
    Element element{};
    std::uint64_t count = 0;
  };
  // The keys `type` and `count` of a buffer or a variable.
  static Result<Shape> read_shape(yaml::Map& map, const yaml::Member& member) {
    std::string type;
    Shape shape;
    map.required("type", type).required("count", shape.count);
    const auto element = parse_element(type);
    if (!type.empty() && !element) {
      return Error{
          fmt::format("'type' in {} must be one of {}, not '{}'", member.key, fmt::join(kElementNames, ", "), type),
          member.value.place};
    }
    shape.element = element.value_or(Element::u8);
    if (shape.count > kLargestBuffer / size(shape.element)) {
      return Error{fmt::format("'count' in {} makes a buffer of more than 64 GB", member.key), member.value.place};
    }
    return shape;
  }

  Result<void> read_buffers(const yaml::Value& value) {
    if (value.kind != yaml::Value::Kind::map) return Error{"'buffers' must be a map", value.place};
    for (const yaml::Member& member : value.members) {
      if (auto done = read_buffer(member); !done) return done;
    }
    return {};
  }

  Result<void> read_buffer(const yaml::Member& member) {
    yaml::Map map(member.value, member.key);
    double absolute = 0;
    double relative = 0;
    const auto shape = read_shape(map, member);
    if (!shape) return shape.error();
    map.optional("absolute", absolute).optional("relative", relative);
    const yaml::Value* content = map.take("content");
    const yaml::Value* expect = map.take("expect");
    if (auto done = map.finish(); !done) return done;
    if (!(absolute >= 0 && relative >= 0))
      return Error{fmt::format("'absolute' and 'relative' of {} must not be negative", member.key), member.value.place};

    const Element element = shape->element;
    const std::uint64_t count = shape->count;
    const auto id = description_.application.add_uninitialized(member.key, count * size(element));
    description_.elements.push_back(element);
    if (content != nullptr) {
      auto bytes = read_content(*content, map.label("content"), element, count, folder_);
      if (!bytes) return bytes.error();
      description_.application.buffers[id.index].initial = *std::move(bytes);
    }
    if (expect != nullptr) {
      auto bytes = read_content(*expect, map.label("expect"), element, count, folder_);
      if (!bytes) return bytes.error();
      description_.expected.push_back({id, *std::move(bytes), absolute, relative});
    }
    return {};
  }

  Result<void> read_arguments(const yaml::Value& value, Launch& launch) {
    if (value.kind != yaml::Value::Kind::list) return Error{"'arguments' must be a list", value.place};
    for (const yaml::Value& item : value.items) {
      const std::string what = "argument " + std::to_string(launch.arguments.size() + 1);
      auto argument = read_argument(item, what);
      if (!argument) return argument.error();
      launch.arguments.push_back(*std::move(argument));
    }
    return {};
  }

  Result<Argument> read_argument(const yaml::Value& value, const std::string& what) {
    yaml::Map map(value, what);
    const yaml::Value* buffer_name = map.take("buffer");
    const yaml::Value* local = map.take("local");
    const yaml::Value* members = map.take("struct");
    const yaml::Value* number = nullptr;
    Element element{};
    for (const std::string_view type : kElementNames) {
      const yaml::Value* found = map.take(type);
      if (found == nullptr) continue;
      number = found;
      element = *parse_element(type);
    }
    const yaml::Value* begins = buffer_name != nullptr ? map.take("offset") : nullptr;
    if (auto done = map.finish(); !done) return done.error();
    Bytes offset;
    if (begins != nullptr)
      if (auto done = yaml::read(*begins, map.label("offset"), offset); !done) return done.error();
    if (value.members.size() != (begins != nullptr ? 2U : 1U)) {
      return Error{what + " must be one of: a typed value (u32: 5), buffer: NAME, struct: [MEMBER, …], local: SIZE",
                   value.place};
    }
    if (members != nullptr) return struct_argument(*members, what);
    if (buffer_name != nullptr) return buffer_argument(*buffer_name, what, offset.count);
    if (local != nullptr) {
      Bytes bytes;
      if (auto done = yaml::read(*local, map.label("local"), bytes); !done) return done.error();
      return Argument{LocalMemory{bytes.count}};
    }
    return scalar_argument(*number, map.label(name(element)), element);
  }

  Result<Argument> buffer_argument(const yaml::Value& value, const std::string& what, std::size_t offset) {
    const auto& buffers = description_.application.buffers;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i].name != value.text) {
        names.push_back(buffers[i].name);
        continue;
      }
      if (offset > buffers[i].bytes) return Error{what + ": 'offset' lies past the buffer", value.place};
      return buffer(BufferId{static_cast<std::uint32_t>(i)}, offset);
    }
    return Error{what + ": no buffer '" + value.text + "'" + did_you_mean(value.text, names), value.place};
  }

  // A struct passed by value: each member at a multiple of its own size, the struct padded to a multiple of the
  // largest.
  Result<Argument> struct_argument(const yaml::Value& value, const std::string& what) {
    if (value.kind != yaml::Value::Kind::list || value.items.empty())
      return Error{what + ": 'struct' must be a list of members", value.place};
    Scalar packed;
    std::size_t widest = 1;
    const auto pad_to = [&](std::size_t align) {
      packed.bytes.resize((packed.bytes.size() + align - 1) / align * align);
    };
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      const std::string label = fmt::format("{}, member {}", what, i + 1);
      auto member = read_argument(value.items[i], label);
      if (!member) return member.error();
      if (const auto* address = std::get_if<BufferArgument>(&*member)) {
        pad_to(widest = std::max(widest, sizeof(std::uint64_t)));
        packed.addresses.push_back({packed.bytes.size(), address->buffer, address->offset});
        packed.bytes.resize(packed.bytes.size() + sizeof(std::uint64_t));
        continue;
      }
      const auto* scalar = std::get_if<Scalar>(&*member);
      if (scalar == nullptr || !scalar->addresses.empty() || value.items[i].members.front().key == "struct")
        return Error{label + " must be a typed value or a buffer", value.items[i].place};
      const std::size_t align = size(*parse_element(value.items[i].members.front().key));
      widest = std::max(widest, align);
      pad_to(align);
      packed.bytes.insert(packed.bytes.end(), scalar->bytes.begin(), scalar->bytes.end());
    }
    pad_to(widest);
    return Argument{std::move(packed)};
  }

  // One value, or a list of them: a struct or an array passed by value.
  static Result<Argument> scalar_argument(const yaml::Value& value, const std::string& what, Element element) {
    Scalar scalar;
    const std::vector<yaml::Value> one{value};
    for (const yaml::Value& item : value.kind == yaml::Value::Kind::list ? value.items : one) {
      if (auto done = append(element, item.text, scalar.bytes); !done) {
        return Error{what + ": " + done.error().what, item.place};
      }
    }
    return Argument{std::move(scalar)};
  }

  // Uploads before the launches, downloads after them.
  void add_transfers() {
    Application& application = description_.application;
    std::vector<Step> launches = std::exchange(application.steps, {});
    for (std::uint32_t i = 0; i < application.buffers.size(); ++i) {
      if (!application.buffers[i].initial.empty()) application.upload({i});
    }
    std::move(launches.begin(), launches.end(), std::back_inserter(application.steps));
    for (std::uint32_t i = 0; i < application.buffers.size(); ++i) application.download({i});
  }

  yaml::Map top_;
  std::string folder_;
  Description description_;
};

}  // namespace

std::vector<std::string> Description::entries() const {
  std::vector<std::string> names;
  for (const Step& step : application.steps) {
    const auto* launch = std::get_if<Launch>(&step);
    if (launch != nullptr && std::find(names.begin(), names.end(), launch->kernel) == names.end())
      names.push_back(launch->kernel);
  }
  return names;
}

bool is_description(const std::string& name) { return name.ends_with(".yaml") || name.ends_with(".yml"); }

Result<Description> read_description(std::string_view text, const std::string& path) {
  const auto value = yaml::load(text, path);
  if (!value) return value.error();
  return Reader(*value, path).read();
}

Result<Description> read_description(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return read_description(*text, path);
}

}  // namespace wm::gpu
