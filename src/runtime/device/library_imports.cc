#include "runtime/device/library_imports.h"

#include <array>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace wm::runtime {
namespace {

// An address that the loader tells as a number.
template <typename T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// The dynamic section of a loaded library.
struct DynamicSection {
  explicit DynamicSection(const ElfW(Dyn) * entry) {
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) symbols = at<const ElfW(Sym)>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRTAB) strings = at<const char>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_JMPREL) tables[0].first = at<const ElfW(Rela)>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_PLTRELSZ) tables[0].bytes = entry->d_un.d_val;
      if (entry->d_tag == DT_RELA) tables[1].first = at<const ElfW(Rela)>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_RELASZ) tables[1].bytes = entry->d_un.d_val;
    }
  }
  struct Relocations {
    const ElfW(Rela) * first = nullptr;
    std::size_t bytes = 0;
  };
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  std::array<Relocations, 2> tables;  // one for functions, one for everything else
};

struct Replacement {
  std::string_view library, function;
  void* replacement;
  std::size_t places = 0;
};

const ElfW(Phdr) * find_part(const dl_phdr_info& library, ElfW(Word) type) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    if (library.dlpi_phdr[i].p_type == type) return &library.dlpi_phdr[i];
  }
  return nullptr;
}

// Whether the loader made the place read-only after it resolved the imports.
bool is_read_only(const dl_phdr_info& library, std::uintptr_t place) {
  const ElfW(Phdr)* const part = find_part(library, PT_GNU_RELRO);
  if (part == nullptr) return false;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = library.dlpi_addr + part->p_vaddr;
  return place >= first && place < (first + part->p_memsz) / page * page;
}

bool set_place(const dl_phdr_info& library, std::uintptr_t place, void* function) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto* const start = at<void>(place / page * page);
  const bool read_only = is_read_only(library, place);
  if (read_only && ::mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return false;
  *at<void*>(place) = function;
  if (read_only) ::mprotect(start, page, PROT_READ);
  return true;
}

int replace_in(dl_phdr_info* library, std::size_t, void* data) {
  auto& wanted = *static_cast<Replacement*>(data);
  const std::string_view path = library->dlpi_name;
  if (!path.substr(path.rfind('/') + 1).starts_with(wanted.library)) return 0;
  const ElfW(Phdr)* const part = find_part(*library, PT_DYNAMIC);
  if (part == nullptr) return 0;
  const DynamicSection section(at<const ElfW(Dyn)>(library->dlpi_addr + part->p_vaddr));
  for (const auto& table : section.tables) {
    for (std::size_t r = 0; r < table.bytes / sizeof(ElfW(Rela)); ++r) {
      const std::size_t symbol = ELF64_R_SYM(table.first[r].r_info);
      if (symbol == 0 || section.strings + section.symbols[symbol].st_name != wanted.function) continue;
      if (set_place(*library, library->dlpi_addr + table.first[r].r_offset, wanted.replacement)) ++wanted.places;
    }
  }
  return 0;
}

}  // namespace

std::size_t replace_import(std::string_view library, std::string_view function, void* replacement) {
  Replacement wanted{library, function, replacement};
  ::dl_iterate_phdr(replace_in, &wanted);
  return wanted.places;
}

}  // namespace wm::runtime
