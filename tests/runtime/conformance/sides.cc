#include "runtime/conformance/sides.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/protocol/monitor.h"

namespace wm::runtime::test {
namespace {

namespace fs = std::filesystem;

std::string fresh_folder() {
  std::string pattern = testing::TempDir() + "wm-runtime-XXXXXX";
  return ::mkdtemp(pattern.data()) != nullptr ? pattern : "";
}

// The cache folder of all daemons: that of the test run (WM_TEST_CACHE), or one of this program, deleted at its end.
std::string caches() {
  if (const char* folder = std::getenv("WM_TEST_CACHE")) return folder;
  struct Folder {
    ~Folder() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
    std::string path = fresh_folder();
  };
  static const Folder folder;
  return folder.path;
}

// The folder, or the file, in which the ICD loader finds the native driver.
fs::path vendors() { return native_loader().vendors; }

// Makes the ICD loader use a folder with both drivers.
void offer_both(const std::string& folder, const std::string& socket) {
  std::error_code none;
  if (fs::is_directory(vendors(), none)) {
    for (const auto& entry : fs::directory_iterator(vendors(), none)) fs::copy(entry.path(), folder, none);
  } else if (fs::exists(vendors(), none)) {
    fs::copy(vendors(), folder, none);
  }
  std::ofstream(folder + "/warpmux.icd") << WM_DRIVER << "\n";
  ::setenv("OCL_ICD_VENDORS", folder.c_str(), 1);
  if (const char* libraries = std::getenv("OCL_ICD_FILENAMES")) {
    ::setenv("OCL_ICD_FILENAMES", (std::string(libraries) + ":" + WM_DRIVER).c_str(), 1);
  }
  ::setenv("WARPMUX_SOCKET", socket.c_str(), 1);
}

cl_platform_id platform(bool ours) {
  cl_uint count = 0;
  clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> all(count);
  if (count != 0) clGetPlatformIDs(count, all.data(), nullptr);
  for (cl_platform_id p : all) {
    char name[256] = {};
    clGetPlatformInfo(p, CL_PLATFORM_NAME, sizeof name, name, nullptr);
    if ((std::string(name) == "warpmux") == ours) return p;
  }
  return nullptr;
}

}  // namespace

const NativeLoader& native_loader() {
  static const NativeLoader loader = [] {
    const char* vendors = std::getenv("OCL_ICD_VENDORS");
    const char* files = std::getenv("OCL_ICD_FILENAMES");
    return NativeLoader{vendors != nullptr ? vendors : "/etc/OpenCL/vendors", files != nullptr ? files : ""};
  }();
  return loader;
}

Side open_side(bool ours) {
  Side side;
  side.ours = ours;
  const cl_platform_id p = platform(ours);
  if (p == nullptr || clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &side.device, nullptr) != CL_SUCCESS) return side;
  side.context = clCreateContext(nullptr, 1, &side.device, nullptr, nullptr, nullptr);
  side.queue = clCreateCommandQueue(side.context, side.device, CL_QUEUE_PROFILING_ENABLE, nullptr);
  return side;
}

bool is_on_cpu() {
  cl_device_type type = 0;
  const Side side = open_side(false);
  clGetDeviceInfo(side.device, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
  close_side(side);
  return (type & CL_DEVICE_TYPE_CPU) != 0;
}

void close_side(const Side& side) {
  if (side.queue != nullptr) clReleaseCommandQueue(side.queue);
  if (side.context != nullptr) clReleaseContext(side.context);
}

Daemon::Daemon(const std::string& name, const std::string& policy, const std::string& client_memory)
    : socket_(fresh_folder() + "/" + name) {
  fs::create_directory(only_ours());
  std::ofstream(only_ours() + "/warpmux.icd") << WM_DRIVER << "\n";
  // Before the fork: a folder that a child creates would be its own.
  const bool own_sandbox = std::getenv("WM_SANDBOX") != nullptr;  // results of other sandboxes do not hold for it
  const std::string cache = own_sandbox ? fs::path(socket_).parent_path().string() : caches();
  int ready[2] = {};
  if (::pipe(ready) != 0) return;
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ready[1], STDOUT_FILENO);
    ::setenv("OCL_ICD_VENDORS", vendors().c_str(), 1);
    ::unsetenv("OCL_ICD_FILENAMES");  // else a later daemon would find our client library beside the native driver
    if (!native_loader().files.empty()) ::setenv("OCL_ICD_FILENAMES", native_loader().files.c_str(), 1);
    ::setenv("WM_REWRITE", WM_REWRITER, 1);
    ::setenv("WM_SANDBOX", WM_SANDBOX_PROGRAM, 0);
    ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    const char* other = std::getenv("WM_TEST_DAEMON");  // A mutation run names its own.
    const char* words[] = {other != nullptr ? other : WM_DAEMON, socket_.c_str(), policy.c_str(),
                           client_memory.empty() ? nullptr : client_memory.c_str(), nullptr};
    ::execv(words[0], const_cast<char**>(words));
    std::_Exit(127);
  }
  ::close(ready[1]);
  char word[6] = {};
  if (::read(ready[0], word, 5) == 5 && std::string(word) == "ready") pid_ = child;
  ::close(ready[0]);
  if (pid_ == 0) ::waitpid(child, nullptr, 0);
}

Daemon::~Daemon() {
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the daemon did not end well: " << status;
  }
  std::error_code ignored;
  fs::remove_all(fs::path(socket_).parent_path(), ignored);
}

std::string Daemon::only_ours() const { return (fs::path(socket_).parent_path() / "ours").string(); }

void Daemon::kill() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

bool Daemon::ends() {
  for (int i = 0; i < 1000; ++i) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = 0;
      return true;
    }
    ::usleep(10'000);
  }
  return false;
}

std::string Daemon::status() const {
  const auto text = request_status(socket_);
  return text ? *text : "";
}

Daemon* the_daemon() {
  // Runs until the program ends.
  static const std::unique_ptr<Daemon> daemon = [] {
    (void)vendors();  // before the environment changes
    (void)caches();   // gone after the daemon
    auto made = std::make_unique<Daemon>("sock", "moving_shares");
    if (made->started()) offer_both(fs::path(made->socket()).parent_path(), made->socket());
    return made;
  }();
  return daemon->started() && platform(false) != nullptr ? daemon.get() : nullptr;
}

void same_on_both(const std::function<void(const Side&, Transcript&)>& sequence) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  Transcript native, ours;
  const Side own = open_side(false);
  sequence(own, native);
  close_side(own);
  const Side through = open_side(true);
  ASSERT_NE(through.queue, nullptr) << "the daemon is not found";
  sequence(through, ours);
  close_side(through);
  ASSERT_FALSE(native.lines().empty());
  for (std::size_t i = 0; i < std::min(native.lines().size(), ours.lines().size()); ++i) {
    EXPECT_EQ(ours.lines()[i], native.lines()[i]);
  }
  EXPECT_EQ(ours.lines().size(), native.lines().size());
}

cl_program build(const Side& side, const char* source, const char* options) {
  cl_program program = clCreateProgramWithSource(side.context, 1, &source, nullptr, nullptr);
  EXPECT_EQ(clBuildProgram(program, 1, &side.device, options, nullptr, nullptr), CL_SUCCESS);
  return program;
}

cl_int status_of(cl_event event) {
  cl_int status = 99;
  clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return status;
}

bool compiles_at_launch() {
  const Side side = open_side(false);
  cl_platform_id platform = nullptr;
  clGetDeviceInfo(side.device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr);
  char name[256] = {};
  clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, nullptr);
  close_side(side);
  return name == std::string("Portable Computing Language");
}

}  // namespace wm::runtime::test
