#include "ptx/module_parser.h"

#include <algorithm>
#include <fmt/format.h>

#include "ptx/declaration.h"
#include "ptx/signature.h"

namespace wm::ptx {
namespace {

constexpr std::uint64_t kMaxFiles = 65535;

std::optional<Linkage> linkage_named(std::string_view name) {
  if (name == "visible") return Linkage::visible;
  if (name == "extern") return Linkage::external;
  if (name == "weak") return Linkage::weak;
  if (name == "common") return Linkage::common;
  return std::nullopt;
}

// Same results and parameters, whatever they are called.
bool agree(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Variable& x, const Variable& y) {
    return x.space == y.space && x.type == y.type && x.vector == y.vector && x.shape == y.shape;
  });
}

}  // namespace

Module ModuleParser::parse() {
  header();
  while (tokens_.current().kind != TokenKind::end) item();
  check_complete();
  order_functions();
  return std::move(module_);
}

void ModuleParser::header() {
  if (!tokens_.accept_dotted("version")) tokens_.fail_expected("'.version' to begin the module");
  version();
  if (!tokens_.accept_dotted("target")) tokens_.fail_expected("'.target' after the version");
  target();
  // PTX says 32 where nothing is said.
  module_.address_size = 32;
  if (tokens_.accept_dotted("address_size")) {
    const Token size = tokens_.current();
    module_.address_size = static_cast<std::uint32_t>(tokens_.expect_integer("32 or 64", 64));
    if (module_.address_size != 32 && module_.address_size != 64) {
      tokens_.fail(size.position, fmt::format("an address has 32 or 64 bits, not {}", size.text));
    }
  }
}

void ModuleParser::version() {
  const Token token = tokens_.current();
  const auto part = [&](std::string_view text) -> std::uint32_t {
    const bool digits = !text.empty() && text.size() <= 4 && text.find_first_not_of("0123456789") == text.npos;
    if (!digits) tokens_.fail(token.position, fmt::format("expected a version such as 8.0, found {}", describe(token)));
    return static_cast<std::uint32_t>(std::stoul(std::string(text)));
  };
  const std::size_t dot = std::min(token.text.find('.'), token.text.size());
  module_.version_major = part(token.text.substr(0, dot));
  module_.version_minor = part(token.text.substr(std::min(dot + 1, token.text.size())));
  tokens_.advance();
}

void ModuleParser::target() {
  do {
    const Token word = tokens_.expect_identifier("a target such as sm_90");
    // The sections that `debug` promises are not kept, so neither is the promise.
    if (word.text != "debug") module_.targets.emplace_back(word.text);
  } while (tokens_.accept(','));
  if (module_.targets.empty()) tokens_.fail_expected("a target such as sm_90");
}

void ModuleParser::item() {
  if (tokens_.current().kind != TokenKind::dotted) tokens_.fail_expected("a directive, a variable or a function");
  Token word = tokens_.advance();
  if (word.text == "file") return file();
  if (word.text == "section") return section();
  if (word.text == "metadata_section") return tokens_.skip_braces();  // NVIDIA's OpenCL notes on kernel arguments
  Linkage linkage = Linkage::internal;
  if (const auto named = linkage_named(word.text)) {
    linkage = *named;
    if (tokens_.current().kind != TokenKind::dotted) tokens_.fail_expected("a space, .entry or .func");
    word = tokens_.advance();
  }
  if (word.text == "entry" || word.text == "func") return function(word.text == "entry", linkage);
  const auto space = space_named(word.text);
  if (space == Space::global || space == Space::constant || space == Space::shared) return variables(*space, linkage);
  tokens_.fail(word.position, fmt::format("'.{}' is not supported at module level", word.text));
}

void ModuleParser::file() {
  const Position at = tokens_.current().position;
  const std::uint64_t index = tokens_.expect_integer("the file's number", kMaxFiles);
  std::string path = tokens_.expect_string("the file's name");
  // Folder and name may be written apart.
  if (tokens_.current().kind == TokenKind::string) path += "/" + tokens_.expect_string("the file's name");
  if (index == 0) tokens_.fail(at, "files are numbered from 1");
  if (module_.files.size() <= index) module_.files.resize(index + 1);
  module_.files[index] = std::move(path);
  // Time and size of the file, which nothing here needs.
  while (tokens_.accept(',')) tokens_.expect_number("a number");
}

void ModuleParser::section() {
  if (tokens_.current().kind != TokenKind::dotted && tokens_.current().kind != TokenKind::identifier) {
    tokens_.fail_expected("the section's name");
  }
  tokens_.advance();
  tokens_.skip_braces();
}

void ModuleParser::variables(Space space, Linkage linkage) {
  const Variable head = parse_variable_head(tokens_, space, linkage);
  do {
    Variable variable = head;
    const Token name = parse_variable_tail(tokens_, variable, true);
    const auto index = static_cast<std::uint32_t>(module_.variables.size());
    const auto [at, fresh] = names_.emplace(name.text, ModuleSymbol{false, index});
    if (fresh) {
      module_.variables.push_back(std::move(variable));
      continue;
    }
    // An .extern declaration may be followed by the definition.
    if (at->second.function || module_.variables[at->second.index].linkage != Linkage::external) {
      tokens_.fail(name.position, fmt::format("'{}' is already declared", name.text));
    }
    module_.variables[at->second.index] = std::move(variable);
  } while (tokens_.accept(','));
  tokens_.expect(';', "after a variable");
}

std::uint32_t ModuleParser::place_for(const Function& signature, std::string_view name) {
  const auto index = static_cast<std::uint32_t>(module_.functions.size());
  const auto [at, fresh] = names_.emplace(name, ModuleSymbol{true, index});
  if (fresh) {
    module_.functions.push_back(signature);
    return index;
  }
  if (!at->second.function) tokens_.fail(signature.position, fmt::format("'{}' is already declared", name));
  const Function& before = module_.functions[at->second.index];
  if (!before.declaration && !signature.declaration) {
    tokens_.fail(signature.position, fmt::format("function '{}' already has a body", name));
  }
  if (before.entry != signature.entry || !agree(before.results, signature.results) ||
      !agree(before.parameters, signature.parameters)) {
    tokens_.fail(signature.position, fmt::format("function '{}' was declared with another signature", name));
  }
  if (before.declaration) module_.functions[at->second.index] = signature;
  return at->second.index;
}

void ModuleParser::function(bool entry, Linkage linkage) {
  Function function = parse_signature(tokens_, entry, linkage);
  function.declaration = tokens_.accept(';');
  if (function.declaration && entry)
    tokens_.fail(function.position, fmt::format("kernel '{}' has no body", function.name));
  // Known before its body is read: a function may name itself.
  names_storage_.push_back(function.name);
  const std::uint32_t index = place_for(function, names_storage_.back());
  if (function.declaration) return;
  body(function);
  module_.functions[index] = std::move(function);
}

// After a mistake the text is read again from the function's brace, and skipped.
void ModuleParser::body(Function& function) {
  const TokenStream at_brace = tokens_;
  const Function signature = function;
  try {
    BodyParser body(tokens_, module_, names_, function);
    body.parse();
    if (body.largest_file().file > largest_file_.file) largest_file_ = body.largest_file();
  } catch (const ParseFailure& failure) {
    if (unsupported_ == OnUnsupported::fail) throw;
    tokens_ = at_brace;
    tokens_.skip_braces();
    function = signature;
    function.refusal = Refusal{failure.error.what, {failure.error.where.line, failure.error.where.column}};
  }
}

void ModuleParser::check_complete() const {
  if (largest_file_.file != 0 && largest_file_.file >= module_.files.size()) {
    tokens_.fail(largest_file_.position, fmt::format("file {} has no .file directive", largest_file_.file));
  }
  for (const Variable& variable : module_.variables) {
    for (const Relocation& relocation : variable.relocations) {
      if (names_.contains(relocation.symbol)) continue;
      tokens_.fail(variable.position, fmt::format("the value of '{}' names '{}', which is not declared", variable.name,
                                                  relocation.symbol));
    }
  }
}

void ModuleParser::order_functions() {
  std::vector<std::uint32_t> order;
  for (const bool entries : {false, true})
    for (std::uint32_t i = 0; i < module_.functions.size(); ++i)
      if (module_.functions[i].entry == entries) order.push_back(i);
  if (std::is_sorted(order.begin(), order.end())) return;
  std::vector<std::uint32_t> moved(order.size());
  std::vector<Function> functions;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    moved[order[i]] = i;
    functions.push_back(std::move(module_.functions[order[i]]));
  }
  module_.functions = std::move(functions);
  for (Function& function : module_.functions) {
    for (CallTable& table : function.call_tables)
      for (std::uint32_t& f : table.functions) f = moved[f];
    for (Instruction& instruction : function.body)
      for (Operand& operand : instruction.operands)
        if (operand.kind == Operand::Kind::function) operand.index = moved[operand.index];
  }
}

}  // namespace wm::ptx
