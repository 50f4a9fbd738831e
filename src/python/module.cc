// warpmux._core: the functions of the Python package that need C++. Results travel as JSON text, which the package's
// Python part (warpmux/__init__.py) turns into objects.
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/input/data_folder.h"
#include "cli/input/run_options.h"
#include "cli/output/page_document.h"
#include "cli/output/sim_report.h"
#include "kernels/benchmark.h"
#include "lab/report/page.h"
#include "lab/report/timeline_document.h"
#include "lab/run/compare.h"
#include "lab/store/exchange.h"
#include "python/errors.h"
#include "python/kernel_run.h"
#include "python/python_policy.h"

namespace wm::python {
namespace {

namespace py = pybind11;
using Progress = std::function<void(const std::string&, double)>;

// The arguments of `simulate`, as the Python part fills them.
struct Request {
  cli::RunOptions options;
  std::string policy = "left_over";
  bool timeline = true;
  py::object policy_factory;  // makes a policy written in Python; None: `policy` names one of the registry
  std::vector<std::string> needs;
  Progress progress;
};

// Runs on the simulator without Python's lock; progress takes it for each call.
std::string simulate(const Request& request) {
  auto spec = value_or_raise(request.options.without_policy());
  if (spec.kernels.empty()) throw py::value_error("no kernels");
  std::optional<PythonPolicyEntry> own;
  if (!request.policy_factory.is_none()) own.emplace(request.policy_factory, request.policy, request.needs);
  const policy::Choice choice = own ? own->choice() : value_or_raise(policy::choose(request.policy));
  lab::CorunOptions options = request.options.corun_options(spec);
  sim::Timeline timeline(cli::kPageInterval);
  if (request.timeline) options.timeline = &timeline;
  options.progress = [&request](const std::string& run, double done) {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();  // an interrupt ends the run
    if (request.progress) request.progress(run, done);
  };
  const py::gil_scoped_release release;
  const auto run = value_or_raise(cli::load_run(spec));
  value_or_raise(cli::choose_length(spec, run, options));
  const auto result = value_or_raise(lab::corun(run.gpu, run.participants, choice, options));
  auto document = cli::json_of(result);
  if (request.timeline) document["timeline"] = lab::timeline_document(run.gpu, result, timeline);
  return document.dump();
}

// The policies that `words` name and that fit these kernels; and the others with their reasons.
std::pair<std::vector<std::string>, std::vector<std::pair<std::string, std::string>>> fitting(
    const Request& request, const std::vector<std::string>& words) {
  const auto run = value_or_raise(cli::load_run(value_or_raise(request.options.without_policy())));
  const auto policies = value_or_raise(lab::policies_for(words, run.participants));
  std::pair<std::vector<std::string>, std::vector<std::pair<std::string, std::string>>> result;
  for (const policy::Choice& c : policies.fit) result.first.push_back(c.to_string());
  for (const lab::Unfit& u : policies.unfit) result.second.emplace_back(u.policy, u.why);
  return result;
}

std::string read_store(const std::string& path) {
  const auto results = value_or_raise(lab::load_results(path));
  auto rows = nlohmann::ordered_json::array();
  for (const lab::Row& row : results.rows) {
    nlohmann::ordered_json item{{"key", row.key},
                                {"command", row.command},
                                {"seed", row.seed},
                                {"code_version", row.code_version},
                                {"state", row.state == lab::Row::State::done ? "done" : "failed"},
                                {"run_hash", row.run_hash},
                                {"host_seconds", row.host_seconds}};
    if (!row.error.empty()) item["error"] = row.error;
    item["spec"] = nlohmann::ordered_json::parse(row.spec, nullptr, false);
    item["result"] = nlohmann::ordered_json::parse(row.result.empty() ? "null" : row.result, nullptr, false);
    rows.push_back(std::move(item));
  }
  return rows.dump();
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const policy::Entry& e : policy::entries()) names.emplace_back(e.info.name);
  return names;
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const zoo::Entry& e : zoo::entries()) names.emplace_back(e.benchmark.name);
  return names;
}

// A whole number of Python or numpy (anything with __index__) within [0, max].
template <typename T>
T whole_number(const py::handle& value, const char* name) {
  if (PyIndex_Check(value.ptr()) == 0)
    throw py::type_error(fmt::format("'{}' must be a whole number, not {}", name, py::repr(value).cast<std::string>()));
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!number) throw py::error_already_set();
  const py::int_ max(std::numeric_limits<T>::max());
  if (number < py::int_(0) || number > max)
    throw py::value_error(fmt::format("'{}' must be a whole number from 0 to {}, not {}", name,
                                      std::numeric_limits<T>::max(), py::str(number).cast<std::string>()));
  return number.cast<T>();
}

gpu::Dim3 extent(const py::object& value, const char* name) {
  if (!py::isinstance<py::sequence>(value)) return {whole_number<std::uint32_t>(value, name)};
  std::vector<std::uint32_t> parts;
  for (const py::handle part : value) parts.push_back(whole_number<std::uint32_t>(part, name));
  if (parts.empty() || parts.size() > 3) throw py::value_error(fmt::format("'{}' has one to three numbers", name));
  parts.resize(3, 1);
  return {parts[0], parts[1], parts[2]};
}

void add_requests(py::module_& m) {
  py::class_<Request>(m, "Request")
      .def(py::init<>())
      .def_property("gpu", nullptr, [](Request& r, const std::string& gpu) { r.options.spec.gpu = gpu; })
      .def_property(
          "cycles", nullptr,
          [](Request& r, const py::object& n) { r.options.spec.cycles = whole_number<std::uint64_t>(n, "cycles"); })
      .def_property(
          "seed", nullptr,
          [](Request& r, const py::object& n) { r.options.spec.seed = whole_number<std::uint64_t>(n, "seed"); })
      .def_property("kernels", nullptr,
                    [](Request& r, std::vector<std::string> k) { r.options.kernels = std::move(k); })
      .def_property("size", nullptr, [](Request& r, const std::string& size) { r.options.size = size; })
      .def_property("once", nullptr, [](Request& r, bool once) { r.options.once = once; })
      .def_property(
          "threads", nullptr,
          [](Request& r, const py::object& n) { r.options.threads = whole_number<std::uint32_t>(n, "threads"); })
      .def_property("cache", nullptr, [](Request& r, const std::string& folder) { r.options.cache = folder; })
      .def_readwrite("policy", &Request::policy)
      .def_readwrite("timeline", &Request::timeline)
      .def_readwrite("policy_factory", &Request::policy_factory)
      .def_readwrite("needs", &Request::needs)
      .def_readwrite("progress", &Request::progress);
}

void add_functions(py::module_& m) {
  m.def("simulate", &simulate);
  m.def("fitting", &fitting);
  m.def("read_store", &read_store);
  m.def("policy_names", &policy_names);
  m.def("kernel_names", &kernel_names);
  m.def("gpu_folder", &cli::gpu_folder);
  m.def("page", [](const std::string& document) {
    return value_or_raise(lab::page_of(nlohmann::ordered_json::parse(document)));
  });
}

void add_kernel(py::module_& m) {
  py::class_<Kernel>(m, "Kernel", "A kernel of a PTX file, to be executed on arrays without time.")
      .def(py::init<std::string, std::string, std::string, std::string>())
      .def_property_readonly("name", &Kernel::entry)
      .def_property_readonly("parameters", &Kernel::parameters)
      .def("run", [](const Kernel& k, const py::object& grid, const py::object& block, const py::sequence& arguments,
                     const py::object& shared, const py::object& max_instructions) {
        return k.run(extent(grid, "grid"), extent(block, "block"), arguments,
                     whole_number<std::uint32_t>(shared, "shared"),
                     whole_number<std::uint64_t>(max_instructions, "max_instructions"));
      });
}

}  // namespace
}  // namespace wm::python

PYBIND11_MODULE(_core, m) {
  pybind11::register_exception<wm::python::Failure>(m, "Error", PyExc_ValueError).doc() =
      "An error of warpmux, with the line that the command line prints.";
  wm::python::add_requests(m);
  wm::python::add_functions(m);
  wm::python::add_kernel(m);
  wm::python::add_policy_classes(m);
}
