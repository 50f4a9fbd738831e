#include "runtime/sandbox/request.h"

namespace wm::runtime::sandbox {
namespace {

// The version of the encoding: wm-sandbox may be replaced while a daemon runs.
constexpr std::uint32_t kFormat = 2;

class Packer {
 public:
  Packer& number(std::uint32_t n) {
    for (int i = 0; i < 4; ++i) bytes_ += static_cast<char>(n >> (8 * i) & 0xff);
    return *this;
  }
  Packer& large(std::uint64_t n) {
    return number(static_cast<std::uint32_t>(n)).number(static_cast<std::uint32_t>(n >> 32));
  }
  Packer& text(const std::string& s) {
    number(static_cast<std::uint32_t>(s.size()));
    bytes_ += s;
    return *this;
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Returns zeros and empty text when the bytes are exhausted, and `ok` is false from then on.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  std::uint32_t number() {
    if (rest_.size() < 4) return fail(), 0;
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < 4; ++i) n |= std::uint32_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
    rest_.remove_prefix(4);
    return n;
  }
  std::uint64_t large() {
    const std::uint64_t low = number();
    return low | std::uint64_t{number()} << 32;
  }
  std::string text() {
    const std::uint32_t size = number();
    if (size > rest_.size()) return fail(), std::string();
    std::string s(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return s;
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  std::string_view rest_;
  bool ok_ = true;
};

void put(Packer& to, const SandboxLaunch& launch) {
  to.text(launch.kernel).number(launch.dimensions).number(launch.offset ? 1 : 0);
  for (std::size_t i = 0; i < 3; ++i) to.large(launch.global[i]).large(launch.local[i]);
  to.number(static_cast<std::uint32_t>(launch.arguments.size()));
  for (const auto& [kind, size] : launch.arguments) to.number(static_cast<std::uint32_t>(kind)).number(size);
}

SandboxLaunch take_launch(Unpacker& from) {
  SandboxLaunch launch;
  launch.kernel = from.text();
  launch.dimensions = from.number();
  launch.offset = from.number() != 0;
  for (std::size_t i = 0; i < 3; ++i) {
    launch.global[i] = from.large();
    launch.local[i] = from.large();
  }
  const std::uint32_t count = from.number();
  for (std::uint32_t i = 0; i < count && from.ok(); ++i) {
    const auto kind = static_cast<SandboxLaunch::Argument>(from.number());
    launch.arguments.emplace_back(kind, from.number());
  }
  return launch;
}

}  // namespace

Request build_of(const std::string& source, const std::string& options) {
  Request request;
  request.programs.push_back({false, source, options, {}});
  return request;
}

std::string encode(const Request& request) {
  Packer to;
  to.number(kFormat).number(static_cast<std::uint32_t>(request.what)).number(request.call);
  to.text(request.device).text(request.options).number(static_cast<std::uint32_t>(request.programs.size()));
  for (const Program& p : request.programs) {
    to.number(p.binary ? 1 : 0).text(p.text).text(p.options).number(static_cast<std::uint32_t>(p.headers.size()));
    for (const Header& h : p.headers) to.text(h.name).text(h.text);
  }
  to.number(request.launch ? 1 : 0);
  if (request.launch) put(to, *request.launch);
  to.number(request.binary ? 1 : 0);
  return to.take();
}

Result<Request> decode(std::string_view bytes) {
  Unpacker from(bytes);
  Request request;
  if (from.number() != kFormat) return Error{"a request of another version"};
  request.what = static_cast<Request::What>(from.number());
  request.call = from.number();
  request.device = from.text();
  request.options = from.text();
  const std::uint32_t programs = from.number();
  for (std::uint32_t i = 0; i < programs && from.ok(); ++i) {
    Program p;
    p.binary = from.number() != 0;
    p.text = from.text();
    p.options = from.text();
    const std::uint32_t headers = from.number();
    for (std::uint32_t h = 0; h < headers && from.ok(); ++h) {
      Header header;
      header.name = from.text();
      header.text = from.text();
      p.headers.push_back(std::move(header));
    }
    request.programs.push_back(std::move(p));
  }
  if (from.number() != 0) request.launch = take_launch(from);
  request.binary = from.number() != 0;
  if (!from.ok() || request.what > Request::What::nonstandard_call) return Error{"an incomplete request"};
  return request;
}

}  // namespace wm::runtime::sandbox
