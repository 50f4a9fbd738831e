#include "runtime/simulated/static_runtime.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wm::runtime {

namespace {

constexpr std::string_view kRegistrations = ".nvFatBinSegment";
constexpr std::string_view kSharedRuntime = "libcudart.so", kDriver = "libcuda.so";

// The sections of an ELF file. Every access is checked, since the file may be damaged.
class Sections {
 public:
  explicit Sections(std::span<const std::byte> file) : file_(file) {
    const auto header = read<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_shentsize != sizeof(Elf64_Shdr)) {
      return;
    }
    offset_ = header->e_shoff;
    count_ = header->e_shnum;
    if (const auto names = section(header->e_shstrndx)) names_ = content(*names);
  }

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::optional<Elf64_Shdr> section(std::uint32_t i) const {
    if (i >= count_) return std::nullopt;
    return read<Elf64_Shdr>(offset_ + std::uint64_t{i} * sizeof(Elf64_Shdr));
  }
  [[nodiscard]] std::string_view name(const Elf64_Shdr& section) const { return text_at(names_, section.sh_name); }
  [[nodiscard]] std::string_view content(const Elf64_Shdr& section) const {
    if (section.sh_offset > file_.size() || section.sh_size > file_.size() - section.sh_offset) return {};
    return {reinterpret_cast<const char*>(file_.data()) + section.sh_offset, section.sh_size};
  }
  // The text that begins at `at` and ends with a zero or the table.
  [[nodiscard]] static std::string_view text_at(std::string_view table, std::uint64_t at) {
    if (at >= table.size()) return {};
    const std::string_view rest = table.substr(at);
    return rest.substr(0, rest.find('\0'));
  }

 private:
  template <typename T>
  [[nodiscard]] std::optional<T> read(std::uint64_t at) const {
    if (at > file_.size() || sizeof(T) > file_.size() - at) return std::nullopt;
    T value;
    std::memcpy(&value, file_.data() + at, sizeof(T));
    return value;
  }

  std::span<const std::byte> file_;
  std::uint64_t offset_ = 0;
  std::uint32_t count_ = 0;
  std::string_view names_;
};

// The entries of a section with what the loader must do.
struct DynamicEntries {
  std::vector<std::string_view> needed;  // libraries
  bool has_rpath = false, has_runpath = false;
};

DynamicEntries dynamic_entries(const Sections& sections, const Elf64_Shdr& dynamic) {
  DynamicEntries found;
  const auto names = sections.section(dynamic.sh_link);
  if (!names) return found;
  const std::string_view entries = sections.content(dynamic);
  for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= entries.size(); at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, entries.data() + at, sizeof entry);
    if (entry.d_tag == DT_NEEDED) found.needed.push_back(Sections::text_at(sections.content(*names), entry.d_un.d_val));
    found.has_rpath = found.has_rpath || entry.d_tag == DT_RPATH;
    found.has_runpath = found.has_runpath || entry.d_tag == DT_RUNPATH;
  }
  return found;
}

bool needs_shared_runtime(const Sections& sections, const Elf64_Shdr& dynamic) {
  const auto needed = dynamic_entries(sections, dynamic).needed;
  return std::any_of(needed.begin(), needed.end(), [](std::string_view n) { return n.starts_with(kSharedRuntime); });
}

// Calls `read` with the content of a file; `otherwise` where it cannot be read.
template <typename Value, typename Read>
Value with_content(const std::string& path, Value otherwise, Read&& read) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return otherwise;
  struct stat facts {};
  const bool is_file = ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0;
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  void* pages = is_file ? ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  ::close(file);
  if (pages == MAP_FAILED) return otherwise;
  Value value = read(std::span(static_cast<const std::byte*>(pages), bytes));
  ::munmap(pages, bytes);
  return value;
}

}  // namespace

bool has_static_runtime(std::span<const std::byte> file) {
  const Sections sections(file);
  bool registers_kernels = false;
  for (std::uint32_t i = 0; i < sections.count(); ++i) {
    const auto section = sections.section(i);
    if (!section) return false;
    registers_kernels = registers_kernels || sections.name(*section) == kRegistrations;
    if (section->sh_type == SHT_DYNAMIC && needs_shared_runtime(sections, *section)) return false;
  }
  return registers_kernels;
}

bool has_static_runtime(const std::string& path) {
  return with_content(path, false, [](std::span<const std::byte> file) { return has_static_runtime(file); });
}

std::vector<std::string> fixed_cuda_libraries(std::span<const std::byte> file) {
  const Sections sections(file);
  std::vector<std::string> found;
  for (std::uint32_t i = 0; i < sections.count(); ++i) {
    const auto section = sections.section(i);
    if (!section) return {};
    if (section->sh_type != SHT_DYNAMIC) continue;
    const DynamicEntries entries = dynamic_entries(sections, *section);
    if (!entries.has_rpath || entries.has_runpath) continue;  // the loader ignores the one beside the other
    for (const std::string_view name : entries.needed) {
      if (name.starts_with(kSharedRuntime) || name.starts_with(kDriver)) found.emplace_back(name);
    }
  }
  return found;
}

std::vector<std::string> fixed_cuda_libraries(const std::string& path) {
  return with_content(path, std::vector<std::string>(),
                      [](std::span<const std::byte> file) { return fixed_cuda_libraries(file); });
}

}  // namespace wm::runtime
