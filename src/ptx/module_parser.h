// The module level of a PTX text: version and target, files, variables, functions.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/body_parser.h"
#include "ptx/ir.h"
#include "ptx/module_names.h"
#include "ptx/on_unsupported.h"
#include "ptx/token_stream.h"

namespace wm::ptx {

class ModuleParser {
 public:
  ModuleParser(std::string_view text, std::string file, OnUnsupported unsupported)
      : file_(std::move(file)), tokens_(text, file_), unsupported_(unsupported) {}

  // Throws ParseFailure.
  Module parse();

 private:
  void header();
  void version();
  void target();
  void item();
  void file();
  void section();
  void variables(Space space, Linkage linkage);
  void function(bool entry, Linkage linkage);
  void body(Function& function);
  // The function of that name declared before, or a new one; fails where the two do not agree.
  std::uint32_t place_for(const Function& signature, std::string_view name);

  void check_complete() const;
  // Device functions before kernels, so that a printed module declares what it calls before it calls it.
  void order_functions();

  std::string file_;
  TokenStream tokens_;
  OnUnsupported unsupported_;
  Module module_;
  ModuleNames names_;
  std::deque<std::string> names_storage_;  // storage for the views in names_, where the text does not stay in memory
  FileUse largest_file_;
};

}  // namespace wm::ptx
