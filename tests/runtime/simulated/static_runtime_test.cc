// Programs with NVIDIA's runtime library inside are recognised from their file, complete or damaged.
#include "runtime/simulated/static_runtime.h"

#include <cstring>
#include <elf.h>
#include <gtest/gtest.h>
#include <vector>

#include "tree.h"

namespace wm::runtime {
namespace {

// An ELF file with the sections' names, a section of kernels' registrations if asked for, and one needed library.
std::vector<std::byte> elf_file(bool registers_kernels, const std::string& library) {
  const std::string names = std::string("\0.nvFatBinSegment\0.text\0", 24), texts = '\0' + library + '\0';
  std::vector<std::byte> file(sizeof(Elf64_Ehdr));
  const auto append = [&](const void* data, std::size_t bytes) {
    const std::size_t at = file.size();
    file.resize(at + bytes);
    std::memcpy(file.data() + at, data, bytes);
    return at;
  };
  Elf64_Shdr sections[4]{};
  const auto fill = [&](Elf64_Shdr& section, std::uint32_t type, const void* data, std::size_t bytes) {
    section.sh_type = type;
    section.sh_offset = append(data, bytes);
    section.sh_size = bytes;
  };
  Elf64_Dyn needed{};
  needed.d_tag = DT_NEEDED;
  needed.d_un.d_val = 1;
  fill(sections[0], SHT_STRTAB, names.data(), names.size());
  fill(sections[1], SHT_STRTAB, texts.data(), texts.size());
  fill(sections[2], SHT_DYNAMIC, &needed, sizeof needed);
  sections[2].sh_link = 1;
  sections[3].sh_name = registers_kernels ? 1 : 18;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shoff = append(sections, sizeof sections);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

TEST(StaticRuntime, AProgramThatRegistersKernelsAndNeedsNoRuntimeLibraryHasOneInside) {
  EXPECT_TRUE(has_static_runtime(elf_file(true, "libc.so.6")));
  EXPECT_FALSE(has_static_runtime(elf_file(true, "libcudart.so.13")));
  EXPECT_FALSE(has_static_runtime(elf_file(false, "libc.so.6")));
}

TEST(StaticRuntime, ADamagedFileIsNoSuchProgram) {
  const auto complete = elf_file(true, "libc.so.6");
  for (std::size_t bytes = 0; bytes < complete.size(); ++bytes) {
    const std::vector<std::byte> part(complete.begin(), complete.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_FALSE(has_static_runtime(part)) << bytes;
  }
}

TEST(StaticRuntime, FilesOfOtherKindsAreNoSuchPrograms) {
  EXPECT_FALSE(has_static_runtime(source_path("CMakeLists.txt")));
  EXPECT_FALSE(has_static_runtime(source_path("tests")));
  EXPECT_FALSE(has_static_runtime(source_path("missing")));
  EXPECT_FALSE(has_static_runtime(std::string("/proc/self/exe")));
}

TEST(StaticRuntime, LibrariesOfFoldersThatTheFileNamesAreFound) {
  auto file = elf_file(true, "libcudart.so.13");
  EXPECT_TRUE(fixed_cuda_libraries(file).empty());
  // The dynamic section, the third one, gets a second entry at the end of the file.
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  Elf64_Shdr dynamic;
  const std::size_t at = header.e_shoff + 2 * sizeof dynamic;
  std::memcpy(&dynamic, file.data() + at, sizeof dynamic);
  const Elf64_Dyn entries[] = {{DT_NEEDED, {1}}, {DT_RPATH, {1}}};
  dynamic.sh_offset = file.size();
  dynamic.sh_size = sizeof entries;
  file.resize(file.size() + sizeof entries);
  std::memcpy(file.data() + dynamic.sh_offset, entries, sizeof entries);
  std::memcpy(file.data() + at, &dynamic, sizeof dynamic);
  EXPECT_EQ(fixed_cuda_libraries(file), std::vector<std::string>{"libcudart.so.13"});
}

}  // namespace
}  // namespace wm::runtime
