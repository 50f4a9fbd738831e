// The same device twice: through its own driver, and through ours and a daemon. Both are platforms of one loader, so a
// test can do the same to each and compare what it was told.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace wm::runtime::test {

// A daemon in a process of its own, gone with the object.
class Daemon {
 public:
  explicit Daemon(const std::string& name, const std::string& policy = "accelos",
                  const std::string& client_memory = "");
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  [[nodiscard]] const std::string& socket() const { return socket_; }
  [[nodiscard]] bool started() const { return pid_ > 0; }
  // A folder for OCL_ICD_VENDORS with no driver but ours.
  [[nodiscard]] std::string only_ours() const;
  void kill();
  // Whether it ends by itself within ten seconds.
  bool ends();
  // Its status document, or empty.
  [[nodiscard]] std::string status() const;

 private:
  std::string socket_;
  pid_t pid_ = 0;
};

// The program's daemon; OpenCL finds both platforms from the first call on. Null where there is no native device.
Daemon* the_daemon();

struct Side {
  bool ours = false;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

// What OCL_ICD_VENDORS and OCL_ICD_FILENAMES were before both drivers were offered: the device's own.
struct NativeLoader {
  std::string vendors, files;
};
const NativeLoader& native_loader();

// The device through its own driver, or through ours.
Side open_side(bool ours);
void close_side(const Side& side);

// Whether the device's own driver compiles kernels when they first run: PoCL does.
bool compiles_at_launch();

// What a sequence of calls was told, line by line.
class Transcript {
 public:
  void say(const std::string& what, long long value) { lines_.push_back(what + ": " + std::to_string(value)); }
  void say(const std::string& what, const std::string& value) { lines_.push_back(what + ": " + value); }
  template <typename T>
  void data(const std::string& what, const std::vector<T>& values) {
    std::string line = what + ":";
    for (const T& v : values) line += " " + std::to_string(v);
    lines_.push_back(line);
  }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

// Does it natively and through the driver; both must be told the same.
void same_on_both(const std::function<void(const Side&, Transcript&)>& sequence);

// A program built from source; null and a failed test where it does not build.
cl_program build(const Side& side, const char* source, const char* options = "");

// A command's execution status; 99 where that cannot be asked.
cl_int status_of(cl_event event);

}  // namespace wm::runtime::test
