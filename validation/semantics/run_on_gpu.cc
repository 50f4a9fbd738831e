// Runs every form on the first CUDA device and writes the results: `run_on_gpu DIRECTORY`.
//
// results.txt is the compact record (results.h); full.bin has all outputs, 8 bytes each, in the order of the forms, to
// look into a difference. The driver is opened at run time: neither headers nor a toolkit are needed to build this.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <span>

#include "inputs.h"
#include "module.h"
#include "results.h"

namespace {

using namespace wm::semantics;
using Address = unsigned long long;

// The part of the driver that is used here.
struct Driver {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);

  template <typename... Arguments>
  int operator()(const char* name, Arguments... arguments) const {
    auto* function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
    if (function == nullptr) std::fprintf(stderr, "no %s in the driver\n", name), std::exit(1);
    const int status = function(arguments...);
    if (status != 0) std::fprintf(stderr, "%s: error %d\n", name, status), std::exit(1);
    return status;
  }
};

class Buffer {
 public:
  Buffer(const Driver& driver, std::size_t bytes) : driver_(driver) { driver_("cuMemAlloc_v2", &address_, bytes); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { driver_("cuMemFree_v2", address_); }
  Address* address() { return &address_; }

 private:
  const Driver& driver_;
  Address address_ = 0;
};

std::vector<std::uint64_t> run(const Driver& driver, void* module, std::size_t index, const Form& form) {
  const std::vector<Element> elements = inputs(form);
  std::vector<std::uint64_t> in, out(elements.size() * form.destinations.size());
  for (const Element& element : elements) in.insert(in.end(), element.begin(), element.end());
  Buffer source(driver, in.size() * 8), destination(driver, out.size() * 8);
  driver("cuMemcpyHtoD_v2", *source.address(), static_cast<const void*>(in.data()), in.size() * 8);
  void* function = nullptr;
  driver("cuModuleGetFunction", &function, module, ("form_" + std::to_string(index)).c_str());
  auto count = static_cast<unsigned>(elements.size());
  void* parameters[] = {source.address(), destination.address(), &count};
  driver("cuLaunchKernel", function, (count + 127) / 128, 1U, 1U, 128U, 1U, 1U, 0U, static_cast<void*>(nullptr),
         static_cast<void**>(parameters), static_cast<void**>(nullptr));
  driver("cuCtxSynchronize");
  driver("cuMemcpyDtoH_v2", static_cast<void*>(out.data()), *destination.address(), out.size() * 8);
  return out;
}

std::string device_name(const Driver& driver, int device) {
  char name[128] = {};
  int version = 0;
  driver("cuDeviceGetName", static_cast<char*>(name), 128, device);
  driver("cuDriverGetVersion", &version);
  return std::string(name) + ", CUDA driver " + std::to_string(version);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: run_on_gpu DIRECTORY\n"), 2;
  const Driver driver;
  if (driver.library == nullptr) return std::fprintf(stderr, "no CUDA driver here\n"), 1;
  int device = 0;
  void* context = nullptr;
  driver("cuInit", 0U);
  driver("cuDeviceGet", &device, 0);
  driver("cuDevicePrimaryCtxRetain", &context, device);
  driver("cuCtxSetCurrent", context);
  const std::string directory = argv[1];
  std::ofstream results(directory + "/results.txt", std::ios::binary);
  std::ofstream full(directory + "/full.bin", std::ios::binary);
  results << "# " << device_name(driver, device) << "\n";
  const std::vector<Form> forms = all_forms();
  // Modules of a moderate size, because the driver compiles each as one unit.
  constexpr std::size_t kPart = 200;
  for (std::size_t first = 0; first < forms.size(); first += kPart) {
    const auto part = std::span(forms).subspan(first, std::min(kPart, forms.size() - first));
    const std::string ptx = module_of(part);
    void* module = nullptr;
    driver("cuModuleLoadData", &module, static_cast<const void*>(ptx.c_str()));
    for (std::size_t i = 0; i < part.size(); ++i) {
      const auto out = run(driver, module, i, part[i]);
      results << line_of(part[i], out);
      full.write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size() * 8));
    }
    driver("cuModuleUnload", module);
    std::fprintf(stderr, "%zu of %zu forms\n", first + part.size(), forms.size());
  }
  return results.good() && full.good() ? 0 : 1;
}
