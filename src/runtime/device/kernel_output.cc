#include "runtime/device/kernel_output.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>

namespace wm::runtime {
namespace {

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

void KernelOutput::begin() {
  std::fflush(stdout);
  caught_ = Descriptor(::memfd_create("warpmux-printed", MFD_CLOEXEC));
  if (!caught_.open()) return;
  ::fcntl(caught_.get(), F_SETFL, O_APPEND);  // several threads of a driver may write at once
  own_ = Descriptor(::dup(STDOUT_FILENO));
  ::dup2(caught_.get(), STDOUT_FILENO);
}

std::string KernelOutput::end() {
  if (!caught_.open()) return {};
  std::fflush(stdout);
  if (own_.open()) ::dup2(own_.get(), STDOUT_FILENO);
  own_ = Descriptor();
  std::string text(static_cast<std::size_t>(std::max<off_t>(::lseek(caught_.get(), 0, SEEK_END), 0)), '\0');
  const ssize_t read = ::pread(caught_.get(), text.data(), text.size(), 0);
  text.resize(read < 0 ? 0 : static_cast<std::size_t>(read));
  caught_ = Descriptor();
  return text;
}

bool calls_printf(const std::string& text) {
  constexpr std::string_view kName = "printf";
  for (std::size_t at = 0; at < text.size();) {
    if (text.compare(at, 2, "//") == 0) {
      at = text.find('\n', at);
    } else if (text.compare(at, 2, "/*") == 0) {
      at = text.find("*/", at + 2);
    } else if (is_name_character(text[at])) {
      const std::size_t from = at;
      while (at < text.size() && is_name_character(text[at])) ++at;
      if (text.compare(from, at - from, kName) == 0) return true;
    } else {
      ++at;
    }
  }
  return false;
}

}  // namespace wm::runtime
