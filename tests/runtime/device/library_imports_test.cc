// The imports of a loaded library that are replaced: every place that its file names, and no other.
#include "runtime/device/library_imports.h"

#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <link.h>
#include <map>
#include <string>

namespace wm::runtime {
namespace {

// The file of a library that this program has loaded.
std::string file_of(const std::string& library) {
  struct Wanted {
    const std::string& name;
    std::string path;
  } wanted{library, ""};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& w = *static_cast<Wanted*>(data);
        const std::string path = info->dlpi_name;
        if (path.substr(path.rfind('/') + 1).starts_with(w.name)) w.path = path;
        return 0;
      },
      &wanted);
  return wanted.path;
}

template <typename T>
const T* part(const std::string& file, std::size_t offset) {
  return reinterpret_cast<const T*>(file.data() + offset);
}

// The functions that a library imports, as its sections say, with the number of places that hold their address.
std::map<std::string, std::size_t> imports_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string file(std::istreambuf_iterator<char>(stream), {});
  const auto* head = part<ElfW(Ehdr)>(file, 0);
  const auto* sections = part<ElfW(Shdr)>(file, head->e_shoff);
  std::map<std::string, std::size_t> places;
  for (int i = 0; i < head->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_RELA) continue;
    const auto& symbols = sections[sections[i].sh_link];
    const auto* strings = file.data() + sections[symbols.sh_link].sh_offset;
    for (std::size_t r = 0; r < sections[i].sh_size / sizeof(ElfW(Rela)); ++r) {
      const auto& relocation = part<ElfW(Rela)>(file, sections[i].sh_offset)[r];
      const auto& symbol = part<ElfW(Sym)>(file, symbols.sh_offset)[ELF64_R_SYM(relocation.r_info)];
      const bool is_imported_function = symbol.st_shndx == SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
      if (is_imported_function) ++places[strings + symbol.st_name];
    }
  }
  return places;
}

// Every function is replaced by itself, so that the library works on.
TEST(LibraryImports, AllPlacesOfAFunctionAreReplaced) {
  ASSERT_FALSE(file_of("libstdc++.so").empty());
  for (const char* library : {"libstdc++.so", "libyaml-cpp.so", "libspdlog.so"}) {
    const std::string file = file_of(library);
    if (file.empty()) continue;  // it is linked statically
    const auto imports = imports_of(file);
    EXPECT_FALSE(imports.empty()) << library;
    for (const auto& [name, places] : imports) {
      void* const function = ::dlsym(RTLD_DEFAULT, name.c_str());
      if (function == nullptr) continue;
      EXPECT_EQ(replace_import(library, name, function), places) << library << " " << name;
    }
  }
}

TEST(LibraryImports, OtherNamesAndOtherLibrariesStay) {
  EXPECT_EQ(replace_import("libstdc++.so", "no_such_function", nullptr), 0U);
  EXPECT_EQ(replace_import("libstdc++.so", "", nullptr), 0U);
  EXPECT_EQ(replace_import("libstdc++.so", "mem", nullptr), 0U) << "a name is compared as a whole";
  EXPECT_EQ(replace_import("no_such_library", "malloc", nullptr), 0U);
  EXPECT_EQ(replace_import("stdc++", "malloc", nullptr), 0U) << "a file name begins with the text";
}

int replaced_calls = 0;
// `strlen` as it is, and counted.
std::size_t counted_length(const char* text) {
  ++replaced_calls;
  const char* end = text;
  while (*end != 0) ++end;
  return static_cast<std::size_t>(end - text);
}

TEST(LibraryImports, TheReplacementIsCalledUntilTheFunctionIsPutBack) {
  ASSERT_GT(replace_import("libstdc++.so", "strlen", reinterpret_cast<void*>(&counted_length)), 0U);
  replaced_calls = 0;
  try {
    throw std::runtime_error("a text whose length the library asks for");
  } catch (const std::exception&) {
  }
  const int calls = replaced_calls;
  ASSERT_GT(replace_import("libstdc++.so", "strlen", ::dlsym(RTLD_DEFAULT, "strlen")), 0U);
  EXPECT_GT(calls, 0);
  replaced_calls = 0;
  try {
    throw std::runtime_error("another text");
  } catch (const std::exception&) {
  }
  EXPECT_EQ(replaced_calls, 0);
}

}  // namespace
}  // namespace wm::runtime
