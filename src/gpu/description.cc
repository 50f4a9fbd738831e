#include "gpu/description.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <limits>

#include "base/file.h"
#include "base/nearest.h"
#include "base/yaml_map.h"
#include "gpu/content.h"

namespace wm::gpu {
namespace {

constexpr std::uint64_t kLargestBuffer = std::uint64_t{1} << 36;

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
    Launch launch;
    Bytes shared;
    top_.optional("about", description_.about).required("ptx", ptx).required("entry", description_.entry);
    top_.optional("shared", shared);
    take_extent("grid", launch.grid);
    take_extent("block", launch.block);
    const yaml::Value* buffers = top_.take("buffers");
    const yaml::Value* arguments = top_.take("arguments");
    if (auto done = top_.finish(); !done) return done.error();

    description_.ptx_path = (std::filesystem::path(folder_) / ptx).string();
    launch.kernel = description_.entry;
    launch.dynamic_shared_bytes = shared.count;
    if (buffers != nullptr) {
      if (auto done = read_buffers(*buffers); !done) return done.error();
    }
    if (arguments != nullptr) {
      if (auto done = read_arguments(*arguments, launch); !done) return done.error();
    }
    add_steps(std::move(launch));
    return std::move(description_);
  }

 private:
  void take_extent(const char* key, Dim3& out) {
    const yaml::Value* value = top_.take(key);
    if (value == nullptr) return top_.miss(key);
    const auto extent = read_extent(*value, top_.label(key));
    if (extent) out = *extent;
    top_.keep(extent ? Result<void>{} : Result<void>(extent.error()));
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
    std::string type;
    std::uint64_t count = 0;
    double absolute = 0;
    double relative = 0;
    map.required("type", type).required("count", count).optional("absolute", absolute).optional("relative", relative);
    const yaml::Value* content = map.take("content");
    const yaml::Value* expect = map.take("expect");
    if (auto done = map.finish(); !done) return done;

    const auto element = parse_element(type);
    if (!element) {
      return Error{
          fmt::format("'type' in {} must be one of {}, not '{}'", member.key, fmt::join(kElementNames, ", "), type),
          member.value.place};
    }
    if (count > kLargestBuffer / size(*element)) {
      return Error{fmt::format("'count' in {} makes a buffer of more than 64 GB", member.key), member.value.place};
    }
    const auto id = description_.application.add_uninitialized(member.key, count * size(*element));
    description_.elements.push_back(*element);
    if (content != nullptr) {
      auto bytes = read_content(*content, map.label("content"), *element, count, folder_);
      if (!bytes) return bytes.error();
      description_.application.buffers[id.index].initial = *std::move(bytes);
    }
    if (expect != nullptr) {
      auto bytes = read_content(*expect, map.label("expect"), *element, count, folder_);
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
    const yaml::Value* number = nullptr;
    Element element{};
    for (const std::string_view type : kElementNames) {
      const yaml::Value* found = map.take(type);
      if (found == nullptr) continue;
      number = found;
      element = *parse_element(type);
    }
    Bytes offset;
    if (buffer_name != nullptr) map.optional("offset", offset);
    if (auto done = map.finish(); !done) return done.error();
    if (value.members.size() != (offset.count != 0 ? 2U : 1U)) {
      return Error{what + " must be one of: a typed value (u32: 5), buffer: NAME, local: SIZE", value.place};
    }
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

  void add_steps(Launch launch) {
    Application& application = description_.application;
    for (std::uint32_t i = 0; i < application.buffers.size(); ++i) {
      if (!application.buffers[i].initial.empty()) application.upload({i});
    }
    application.launch(std::move(launch));
    for (std::uint32_t i = 0; i < application.buffers.size(); ++i) application.download({i});
  }

  yaml::Map top_;
  std::string folder_;
  Description description_;
};

}  // namespace

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
