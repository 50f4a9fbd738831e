#include "base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>
#include <unistd.h>

namespace wm {
namespace {

struct Close {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

Error system_error(const char* what, const std::string& path, int code) {
  return Error{std::string(what) + " '" + path + "': " + std::strerror(code)};  // NOLINT(concurrency-mt-unsafe)
}

bool write_all(const std::string& path, std::string_view content) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  const int code = errno;
  const bool closed = std::fclose(file) == 0;  // the last bytes reach the disk, or fail to, only here
  if (!written) errno = code;
  return written && closed;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) return Error{"'" + path + "' is a folder"};
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return system_error("cannot read", path, errno);
  std::string content;
  char chunk[65536];
  while (const std::size_t count = std::fread(chunk, 1, sizeof chunk, file.get())) {
    if (count > limit - content.size())
      return Error{"'" + path + "' has more than " + std::to_string(limit) + " bytes"};
    content.append(chunk, count);
  }
  if (std::ferror(file.get()) != 0) return system_error("cannot read", path, errno);
  return content;
}

Result<void> write_file(const std::string& path, std::string_view content) {
  // A pipe or a device such as /dev/stdout cannot be replaced by a rename, so it is written directly.
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return write_all(path, content) ? Result<void>{} : system_error("cannot write", path, errno);
  }
  // A name no other process or thread writes to at this moment.
  const std::string beside = path + ".part-" + std::to_string(getpid()) + "-" +
                             std::to_string(std::hash<std::thread::id>{}(std::this_thread::get_id()));
  if (write_all(beside, content) && std::rename(beside.c_str(), path.c_str()) == 0) return {};
  const int code = errno;
  (void)std::remove(beside.c_str());
  return system_error("cannot write", path, code);
}

}  // namespace wm
