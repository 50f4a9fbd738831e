#include "cli/input/ptx_origin.h"

#include <filesystem>

#include "base/file.h"

namespace wm::cli {

Result<PtxOrigin> PtxOrigin::parse(const std::string& text) {
  PtxOrigin origin;
  if (text.empty() || text == "clang") return origin;
  if (text == "nvcc") {
    origin.kind_ = Kind::nvcc;
  } else if (text == "opencl") {
    auto opened = OpenClCompiler::open();
    if (!opened) return opened.error();
    origin.kind_ = Kind::opencl;
    origin.opencl_ = *std::move(opened);
  } else if (std::error_code ignored; std::filesystem::is_directory(text, ignored)) {
    origin.kind_ = Kind::folder;
    origin.folder_ = text;
  } else {
    return Error{"--ptx-from takes clang, nvcc, opencl or a folder, not '" + text + "'"};
  }
  return origin;
}

Result<PtxText> PtxOrigin::ptx(const zoo::Entry& entry) const {
  const std::string& name = entry.benchmark.name;
  Result<std::string> text = std::string(entry.ptx);
  std::string file = name + ".ptx";
  if (kind_ == Kind::folder) {
    file = (std::filesystem::path(folder_) / file).string();
    text = read_file(file);
  }
  if (kind_ == Kind::nvcc) text = compile_with_nvcc(name, entry.source);
  if (kind_ == Kind::opencl) text = opencl_->compile(name, entry.source);
  if (!text) return text.error();
  return PtxText{*std::move(text), file};
}

}  // namespace wm::cli
