// One device through its native driver, and through our client library and a daemon. Both are platforms of one ICD
// loader, so a test can make the same calls to both and compare the results.
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

// A daemon in a process of its own, which the destructor ends.
class Daemon {
 public:
  explicit Daemon(const std::string& name, const std::string& policy = "accelos",
                  const std::string& client_memory = "");
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  [[nodiscard]] const std::string& socket() const { return socket_; }
  [[nodiscard]] bool started() const { return pid_ > 0; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  // A folder for OCL_ICD_VENDORS with the client library only.
  [[nodiscard]] std::string only_ours() const;
  void kill();
  // Whether it ends by itself within ten seconds.
  bool ends();
  // Its status document; empty: it does not answer.
  [[nodiscard]] std::string status() const;

 private:
  std::string socket_;
  pid_t pid_ = 0;
};

// The daemon of the test program. OpenCL finds both platforms after the first call. Null: there is no native device.
Daemon* the_daemon();

struct Side {
  bool ours = false;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

// OCL_ICD_VENDORS and OCL_ICD_FILENAMES of the native driver, as they were at the start.
struct NativeLoader {
  std::string vendors, files;
};
const NativeLoader& native_loader();

// Opens the device through the native driver, or through ours.
Side open_side(bool ours);
void close_side(const Side& side);
// Is the native device a CPU?
bool is_on_cpu();

// Whether the native driver compiles kernels at their first launch, as PoCL does.
bool compiles_at_launch();

// The results of a sequence of calls, line by line.
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

// Runs the sequence natively and through the client library; the transcripts must be equal.
void same_on_both(const std::function<void(const Side&, Transcript&)>& sequence);

// Builds a program from source; fails the test where it does not build.
cl_program build(const Side& side, const char* source, const char* options = "");

// The execution status of a command; 99 where the query fails.
cl_int status_of(cl_event event);

}  // namespace wm::runtime::test
