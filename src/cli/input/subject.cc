#include "cli/input/subject.h"

#include <memory>
#include <sstream>

#include "base/file.h"
#include "base/nearest.h"
#include "cli/output/terminal.h"
#include "gpu/description.h"

namespace wm::cli {
namespace {

zoo::Expectation::Element element_of(gpu::Element element) {
  using To = zoo::Expectation::Element;
  switch (element) {
    case gpu::Element::u8:
    case gpu::Element::s8:
      return To::u8;
    case gpu::Element::u16:
    case gpu::Element::s16:
      return To::u16;
    case gpu::Element::u32:
      return To::u32;
    case gpu::Element::s32:
      return To::i32;
    case gpu::Element::u64:
    case gpu::Element::s64:
      return To::u64;
    case gpu::Element::f32:
      return To::f32;
    case gpu::Element::f64:
      return To::f64;
    case gpu::Element::f16:
      return To::f16;
    case gpu::Element::bf16:
      return To::bf16;
  }
  return To::u8;
}

zoo::Case case_of(const gpu::Description& description) {
  zoo::Case c;
  c.application = description.application;
  for (const gpu::ExpectedContent& e : description.expected) {
    c.expected.push_back(
        {e.buffer, element_of(description.elements[e.buffer.index]), e.values, e.absolute, e.relative});
  }
  return c;
}

Result<Subject> own_subject(const std::string& path) {
  auto read = gpu::read_description(path);
  if (!read) return read.error();
  auto ptx = read_file(read->ptx_path);
  if (!ptx) return ptx.error();
  const auto description = std::make_shared<const gpu::Description>(*std::move(read));
  Subject subject;
  subject.name = path;
  subject.about = description->about;
  subject.suite = "own";
  for (const std::string& entry : description->entries())
    subject.kernels.push_back({description->entries().size() == 1 ? description->name : entry, entry});
  subject.ptx = *std::move(ptx);
  subject.ptx_file = description->ptx_path;
  subject.own = true;
  subject.make = [description](zoo::Size) { return case_of(*description); };
  return subject;
}

Result<Subject> zoo_subject(const zoo::Entry& entry, const PtxOrigin& origin) {
  auto ptx = origin.ptx(entry);
  if (!ptx) return ptx.error();
  const zoo::Benchmark& b = entry.benchmark;
  return Subject{b.name, b.about, b.suite, b.aliases, b.kernels, {}, ptx->text, ptx->file, {}, false, b.make};
}

// The part behind the slash of `histo/main`, or an error that names the nearest.
Result<std::string> kernel_of(const zoo::Benchmark& benchmark, const std::string& wanted) {
  std::vector<std::string> names;
  for (const zoo::Kernel& kernel : benchmark.kernels) {
    if (kernel.name == wanted) return wanted;
    names.push_back(kernel.name);
  }
  return Error{"'" + benchmark.name + "' has no kernel '" + wanted + "'" + did_you_mean(wanted, names)};
}

// Finds a name without settings.
Result<Subject> named(const std::string& name, const PtxOrigin& origin) {
  if (gpu::is_description(name)) return own_subject(name);
  const auto slash = name.find('/');
  const auto entry = zoo::find(name.substr(0, slash));
  if (!entry) return entry.error();
  auto subject = zoo_subject(**entry, origin);
  if (!subject || slash == std::string::npos) return subject;
  auto kernel = kernel_of((*entry)->benchmark, name.substr(slash + 1));
  if (!kernel) return kernel.error();
  subject->kernel = *std::move(kernel);
  return subject;
}

// Reads "size=medium". The other settings of a kernel concern sharing and are rejected here.
Result<void> set_keys(const std::string& keys, Subject& subject) {
  std::istringstream words(keys);
  for (std::string word; std::getline(words, word, ':');) {
    const auto equal = word.find('=');
    const std::string key = word.substr(0, equal);
    if (key != "size" || equal == std::string::npos) {
      return Error{"'" + word + "' says nothing here: a kernel is NAME or NAME:size=medium" +
                   did_you_mean(key, {"size"})};
    }
    if (subject.own) return Error{"'" + subject.name + "' has one size: 'size' is a setting of the zoo's kernels"};
    const auto size = parse_size(word.substr(equal + 1));
    if (!size) return size.error();
    subject.size = *size;
  }
  return {};
}

}  // namespace

Result<Subject> find_subject(const std::string& word, const PtxOrigin& origin) {
  const auto colon = word.find(':');
  auto subject = named(word.substr(0, colon), origin);
  if (!subject || colon == std::string::npos) return subject;
  if (auto done = set_keys(word.substr(colon + 1), *subject); !done) return done.error();
  return subject;
}

Result<std::vector<Subject>> find_subjects(const std::vector<std::string>& names, const PtxOrigin& origin) {
  std::vector<Subject> subjects;
  Progress progress(names.empty() ? zoo::entries().size() : names.size());  // a vendor's compiler may take seconds
  const auto add = [&](Result<Subject> subject) -> Result<void> {
    if (!subject) return subject.error();
    progress.advance(1, subject->name);
    subjects.push_back(*std::move(subject));
    return {};
  };
  for (const std::string& name : names) {
    if (auto done = add(find_subject(name, origin)); !done) return done.error();
  }
  if (!names.empty()) return subjects;
  for (const zoo::Entry& entry : zoo::entries()) {
    if (auto done = add(zoo_subject(entry, origin)); !done) return done.error();
  }
  return subjects;
}

Result<zoo::Size> parse_size(const std::string& text) {
  if (text == "small") return zoo::Size::small;
  if (text == "medium") return zoo::Size::medium;
  if (text == "large") return zoo::Size::large;
  if (text == "short_blocks") return zoo::Size::short_blocks;
  return Error{"no size '" + text + "': small, medium, large, short_blocks"};
}

const char* name(zoo::Size size) {
  switch (size) {
    case zoo::Size::small:
      return "small";
    case zoo::Size::medium:
      return "medium";
    case zoo::Size::large:
      return "large";
    case zoo::Size::short_blocks:
      return "short_blocks";
  }
  return "";
}

}  // namespace wm::cli
