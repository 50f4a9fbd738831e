#include "rewrite/wire.h"

#include <type_traits>

namespace wm::rewrite {
namespace {

constexpr std::uint32_t kMagic = 0x52574d57;  // "WMWR"

// One description of each type serves both directions: an archive either appends what it is shown or fills it in.
class Writer {
 public:
  template <typename T>
  requires std::is_integral_v<T>
  void number(T value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes_ += static_cast<char>(bits >> (8 * i) & 0xff);
  }
  void string(const std::string& text) {
    number(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }
  template <typename T, typename Visitor>
  void list(const std::vector<T>& items, Visitor&& visit) {
    number(static_cast<std::uint32_t>(items.size()));
    for (const T& item : items) visit(item);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  requires std::is_integral_v<T>
  void number(T& value) {
    std::uint64_t bits = 0;
    if (bytes_.size() < sizeof(T)) {
      broken_ = true;
      bytes_ = {};
    } else {
      for (std::size_t i = 0; i < sizeof(T); ++i)
        bits |= std::uint64_t{static_cast<unsigned char>(bytes_[i])} << (8 * i);
      bytes_.remove_prefix(sizeof(T));
    }
    value = static_cast<T>(bits);
  }
  void string(std::string& text) {
    const std::size_t size = count();
    text.assign(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
  }
  template <typename T, typename Visitor>
  void list(std::vector<T>& items, Visitor&& visit) {
    items.resize(count());  // an item takes a byte at least, so a count past the end is a broken one
    for (T& item : items) visit(item);
  }
  [[nodiscard]] bool complete() const { return !broken_ && bytes_.empty(); }

 private:
  std::size_t count() {
    std::uint32_t size = 0;
    number(size);
    if (size <= bytes_.size()) return size;
    broken_ = true;
    bytes_ = {};
    return 0;
  }

  std::string_view bytes_;
  bool broken_ = false;
};

template <typename Archive, typename T>
void visit(Archive& a, T& v, const Request*) {
  const auto strings = [&a](auto& list) { a.list(list, [&a](auto& item) { a.string(item); }); };
  a.string(v.source);
  a.string(v.options);
  a.list(v.headers, [&a](auto& header) {
    a.string(header.first);
    a.string(header.second);
  });
  a.string(v.directory);
  a.string(v.device.triple);
  a.string(v.device.language);
  strings(v.device.extensions);
  strings(v.device.macros);
  strings(v.device.undefined);
}

template <typename Archive, typename T>
void visit_kernel(Archive& a, T& k) {
  a.string(k.name);
  a.number(k.rewritten);
  a.string(k.reason);
  a.list(k.arguments, [&a](auto& argument) {
    a.string(argument.name);
    a.string(argument.type);
    a.string(argument.address);
    a.string(argument.access);
    a.string(argument.qualifiers);
  });
  a.string(k.attributes);
  a.number(k.instructions);
  a.number(k.chunk);
  a.number(k.local_bytes);
  a.number(k.extra_local_bytes);
}

template <typename Archive, typename T>
void visit(Archive& a, T& v, const Reply*) {
  a.string(v.source);
  a.string(v.options);
  a.string(v.refusal);
  a.list(v.kernels, [&a](auto& kernel) { visit_kernel(a, kernel); });
  a.list(v.dependencies, [&a](auto& file) {
    a.string(file.path);
    a.number(file.digest);
  });
  a.list(v.assumptions, [&a](auto& assumption) {
    a.string(assumption.name);
    a.number(assumption.defined);
    a.number(assumption.valued);
    a.string(assumption.value);
  });
}

template <typename T>
std::string encode_any(const T& value) {
  Writer writer;
  writer.number(kMagic);
  writer.number(kRewriterVersion);
  visit(writer, value, &value);
  return writer.take();
}

template <typename T>
Result<T> decode_any(std::string_view bytes, const char* what) {
  Reader reader(bytes);
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  reader.number(magic);
  reader.number(version);
  if (magic != kMagic) return Error{std::string("not a rewriter's ") + what};
  if (version != kRewriterVersion) return Error{std::string(what) + " of another version of the rewriter"};
  T value;
  visit(reader, value, &value);
  if (!reader.complete()) return Error{std::string("a broken ") + what};
  return value;
}

}  // namespace

std::string encode(const Request& request) { return encode_any(request); }
std::string encode(const Reply& reply) { return encode_any(reply); }
Result<Request> decode_request(std::string_view bytes) { return decode_any<Request>(bytes, "request"); }
Result<Reply> decode_reply(std::string_view bytes) { return decode_any<Reply>(bytes, "reply"); }

std::uint64_t digest(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = 14695981039346656037ULL ^ seed;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

}  // namespace wm::rewrite
