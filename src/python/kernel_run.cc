#include "python/kernel_run.h"

#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <pybind11/numpy.h>
#include <string_view>

#include "base/nearest.h"
#include "cli/input/ptx_module.h"
#include "exec/run.h"
#include "python/errors.h"

namespace wm::python {
namespace {

namespace py = pybind11;

// A number as the bytes of a parameter.
gpu::Scalar scalar_of(const py::handle& value, const ptx::Variable& parameter, std::size_t index) {
  gpu::Scalar scalar;
  scalar.bytes.resize(parameter.bytes());
  const auto name = ptx::name(parameter.type);
  const bool real = name.front() == 'f';
  if (parameter.bytes() > 8 || (real && parameter.bytes() < 4)) {
    throw py::type_error(
        fmt::format("argument {}: pass a numpy scalar or array of {} bytes", index, parameter.bytes()));
  }
  const bool number = PyNumber_Check(value.ptr()) != 0 && !py::isinstance<py::str>(value);
  if (!number) {
    throw py::type_error(fmt::format("argument {} must be a number or a numpy array, not {}", index,
                                     py::str(py::type::of(value).attr("__name__")).cast<std::string>()));
  }
  if (real || py::isinstance<py::float_>(value)) {
    if (!real && name.front() != 'b') throw py::type_error(fmt::format("argument {} is {}, not a float", index, name));
    const double number = PyFloat_AsDouble(value.ptr());
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();  // a complex number is none of these
    const auto single = static_cast<float>(number);
    if (parameter.bytes() == 4) std::memcpy(scalar.bytes.data(), &single, 4);
    if (parameter.bytes() == 8) std::memcpy(scalar.bytes.data(), &number, 8);
    return scalar;
  }
  const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!integer) throw py::error_already_set();
  const std::size_t bits = parameter.bytes() * 8;
  const py::object limit = py::int_(1).attr("__lshift__")(bits);
  if (integer >= limit || integer < py::object(limit.attr("__floordiv__")(-2))) {
    throw py::value_error(fmt::format("argument {} does not fit into {}", index, name));
  }
  const auto low = integer.attr("__mod__")(limit).cast<std::uint64_t>();
  std::memcpy(scalar.bytes.data(), &low, parameter.bytes());
  return scalar;
}

// Kernels work on the bytes of an array: they must be numbers in the host's byte order, or structures of these.
void check_elements(const py::array& array, std::size_t index) {
  const py::dtype type = array.dtype();
  const bool numbers = std::string_view("biufcV").find(type.kind()) != std::string_view::npos;
  if (numbers && !type.attr("hasobject").cast<bool>() && type.attr("isnative").cast<bool>()) return;
  throw py::type_error(fmt::format("argument {}: an array of {} holds no plain numbers in the host's byte order", index,
                                   py::str(type.attr("__str__")()).cast<std::string>()));
}

// An interrupt, as by Ctrl-C, ends the run with Python's exception. Signals are looked for a few times a second, since
// turns of small blocks are short and Python's lock is dear.
class InterruptCheck {
 public:
  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }

 private:
  std::chrono::steady_clock::time_point next_;
};

// The buffers and arguments of a launch. An array that is passed twice is one buffer.
class Arguments {
 public:
  explicit Arguments(const ptx::Function& kernel) : kernel_(kernel) {}

  void add(const py::handle& value) {
    const std::size_t index = list.size();
    if (index >= kernel_.parameters.size()) {
      throw py::type_error(fmt::format("{} has {} parameters", kernel_.name, kernel_.parameters.size()));
    }
    const ptx::Variable& parameter = kernel_.parameters[index];
    if (!py::isinstance<py::array>(value)) {
      list.emplace_back(scalar_of(value, parameter, index));
      return;
    }
    auto array = py::reinterpret_borrow<py::array>(value);
    if ((array.flags() & py::array::c_style) == 0) {
      throw py::value_error(fmt::format("argument {}: the array is not contiguous (numpy.ascontiguousarray)", index));
    }
    check_elements(array, index);
    const auto bytes = static_cast<std::size_t>(array.nbytes());
    if (array.ndim() == 0 && parameter.bytes() <= 8) {  // a number in an array of no dimensions
      list.emplace_back(scalar_of(array.attr("item")(), parameter, index));
      return;
    }
    if (array.ndim() == 0 || (parameter.bytes() != 8 && bytes == parameter.bytes())) {  // passed by value
      gpu::Scalar scalar;
      scalar.bytes.resize(bytes);
      std::memcpy(scalar.bytes.data(), array.data(), bytes);
      list.emplace_back(std::move(scalar));
      return;
    }
    if (parameter.bytes() != 8) throw py::type_error(fmt::format("argument {} is no pointer", index));
    const std::optional<gpu::BufferId> known = find_buffer(array, bytes);
    list.emplace_back(gpu::BufferArgument{known ? *known : add_buffer(array, bytes)});
  }
  // A kernel may read an array that is not writeable; one that it has changed is an error, and no array is changed.
  void write_back(const std::vector<std::vector<std::byte>>& contents) {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      if (!arrays_[i].writeable() && std::memcmp(arrays_[i].data(), contents[i].data(), contents[i].size()) != 0) {
        throw py::value_error(fmt::format("argument {}: the kernel writes to an array that is read-only", indices_[i]));
      }
    }
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      if (arrays_[i].writeable()) std::memcpy(arrays_[i].mutable_data(), contents[i].data(), contents[i].size());
    }
  }

  gpu::Application application;
  std::vector<gpu::Argument> list;

 private:
  // The buffer of an array that was passed before. Arrays that overlap otherwise are refused: they would be different
  // buffers, in which a kernel does not see its own writes.
  std::optional<gpu::BufferId> find_buffer(const py::array& array, std::size_t bytes) const {
    const auto* begin = static_cast<const std::byte*>(array.data());
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const auto* other = static_cast<const std::byte*>(arrays_[i].data());
      const auto other_bytes = static_cast<std::size_t>(arrays_[i].nbytes());
      if (begin == other && bytes == other_bytes) return buffers_[i];
      if (std::less<>()(begin, other + other_bytes) && std::less<>()(other, begin + bytes))
        throw py::value_error(fmt::format("arguments {} and {} are arrays that overlap: pass one array for both",
                                          indices_[i], list.size()));
    }
    return std::nullopt;
  }

  gpu::BufferId add_buffer(const py::array& array, std::size_t bytes) {
    const auto* data = static_cast<const std::byte*>(array.data());
    const gpu::BufferId id =
        application.add(fmt::format("argument{}", list.size()), std::vector<std::byte>(data, data + bytes));
    application.upload(id);
    buffers_.push_back(id);
    arrays_.push_back(array);
    indices_.push_back(list.size());
    return id;
  }

  const ptx::Function& kernel_;
  std::vector<gpu::BufferId> buffers_;  // by array
  std::vector<py::array> arrays_;
  std::vector<std::size_t> indices_;  // indices of the parameters, by array
};

std::string entry_of(const ptx::Module& module, const std::string& file, const std::string& wanted) {
  std::vector<std::string> names;
  for (const ptx::Function& f : module.functions) {
    if (f.entry && !f.declaration) names.push_back(f.name);
  }
  if (wanted.empty() && names.size() == 1) return names.front();
  if (!wanted.empty() && module.entry(wanted) != nullptr) return wanted;
  if (wanted.empty()) throw py::value_error(fmt::format("{} has kernels {}: name one", file, fmt::join(names, ", ")));
  throw py::value_error(file + " has no kernel '" + wanted + "'" + did_you_mean(wanted, names));
}

}  // namespace

Kernel::Kernel(std::string file, const std::string& text, const std::string& entry, const std::string& fmad)
    : file_(std::move(file)),
      module_(value_or_raise(cli::load_ptx(text, file_, fmad))),
      entry_(entry_of(module_, file_, entry)) {}

std::vector<std::string> Kernel::parameters() const {
  std::vector<std::string> all;
  for (const ptx::Variable& p : function().parameters) {
    all.push_back(std::string(ptx::name(p.type)) + (p.pointer ? " pointer" : ""));
  }
  return all;
}

py::dict Kernel::run(const gpu::Dim3& grid, const gpu::Dim3& block, const py::sequence& values,
                     std::size_t shared_bytes, std::uint64_t max_instructions) const {
  Arguments arguments(function());
  for (const py::handle value : values) arguments.add(value);
  if (arguments.list.size() != function().parameters.size()) {
    throw py::type_error(
        fmt::format("{} has {} parameters, not {}", entry_, function().parameters.size(), arguments.list.size()));
  }
  arguments.application.launch({entry_, grid, block, arguments.list, shared_bytes});
  std::string printed;
  exec::RunOptions options;
  options.max_instructions = max_instructions;
  options.print = [&](std::string_view line) { printed += line; };
  options.on_turn = InterruptCheck();
  auto result = [&] {
    const py::gil_scoped_release release;
    return exec::run_application(module_, arguments.application, options, file_);
  }();
  if (!result) raise(result.error());
  arguments.write_back(result->buffers);
  exec::LaunchStatistics sum;
  for (const exec::LaunchRecord& launch : result->launches) sum += launch.statistics;
  py::dict counts;
  counts["blocks"] = sum.blocks;
  counts["warp_instructions"] = sum.warp_instructions;
  counts["thread_instructions"] = sum.thread_instructions;
  counts["printed"] = printed;
  return counts;
}

}  // namespace wm::python
