#include "runtime/client/forward/code_table.h"

#include <cstdio>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <string>

#include "runtime/client/forward/daemon_page.h"

namespace wm::forward {

namespace {

// The reader of the library beside this one; null: it cannot be loaded, which is said once.
gates::ReadCode find_reader() {
  Dl_info own{};
  if (::dladdr(reinterpret_cast<void*>(&find_reader), &own) == 0) return nullptr;
  const std::string file = own.dli_fname;
  const std::string beside = file.substr(0, file.rfind('/') + 1) + gates::kLibraryName;
  void* library = ::dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* reader = library == nullptr ? nullptr : ::dlsym(library, gates::kReadCodeName);
  if (reader == nullptr) std::fprintf(stderr, "wm: this program's kernels stay as they are: %s\n", ::dlerror());
  return reinterpret_cast<gates::ReadCode>(reader);
}

std::shared_ptr<gates::LoadedCode> read(const void* image) {
  static const gates::ReadCode reader = find_reader();
  return std::shared_ptr<gates::LoadedCode>(reader == nullptr ? nullptr : reader(image));
}

bool keeps_code() {
  const runtime::ControlWords& words = page().words;
  return (words.gates.load(std::memory_order_relaxed) | words.workers.load(std::memory_order_relaxed)) != 0;
}

}  // namespace

CodeTable& CodeTable::get() {
  static auto* only = new CodeTable;
  return *only;
}

void CodeTable::add(const void* owner, CodeOwner kind, const void* image) {
  if (!keeps_code() || image == nullptr) return;
  Code code{kind, read(image)};
  const std::lock_guard lock(mutex_);
  codes_.insert_or_assign(owner, std::move(code));
}

void CodeTable::add_file(const void* owner, CodeOwner kind, const char* file) {
  if (!keeps_code()) return;
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  const std::string image = text.str();
  add(owner, kind, image.c_str());
}

void CodeTable::add_module_of(const void* module, const void* library) {
  const std::lock_guard lock(mutex_);
  const auto at = codes_.find(library);
  if (at != codes_.end()) codes_.insert_or_assign(module, Code{CodeOwner::module, at->second.code});
}

void CodeTable::remove(const void* owner) {
  const std::lock_guard lock(mutex_);
  const auto at = codes_.find(owner);
  if (at == codes_.end()) return;
  const auto code = at->second.code;
  const bool is_library = at->second.owner == CodeOwner::library;
  // The modules of a library end with it.
  std::erase_if(codes_, [&](const auto& c) { return c.first == owner || (is_library && c.second.code == code); });
}

CodeTable::Code CodeTable::find(const void* owner) const {
  const std::lock_guard lock(mutex_);
  const auto at = codes_.find(owner);
  return at == codes_.end() ? Code{} : at->second;
}

}  // namespace wm::forward
