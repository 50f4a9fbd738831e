// Clients of a daemon in processes of their own, and clients that speak its protocol by hand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/conformance/sides.h"
#include "runtime/protocol/shared_area.h"
#include "runtime/protocol/socket.h"
#include "runtime/protocol/wire.h"

namespace wm::runtime::test {

// helper/client_main.cc with these arguments, killed with the object if it has not ended.
class Child {
 public:
  Child(const Daemon& daemon, const std::vector<std::string>& words);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  void kill();
  // How it ended: its exit status, or minus the signal; nothing after `seconds`.
  std::optional<int> wait(double seconds = 20);

 private:
  pid_t pid_ = 0;
};

// Whether the daemon's document comes to say so, or to say it no more, within ten seconds.
bool comes_to_say(const Daemon& daemon, const std::string& text);
bool stops_saying(const Daemon& daemon, const std::string& text);

// It shook hands properly, and then writes what it likes.
struct RawClient {
  Descriptor socket;
  std::optional<SharedArea> area;
  std::optional<RingWriter> ring;
};
RawClient raw_client(const Daemon& daemon, const std::string& name);

inline constexpr const char* kNothingAlive =
    R"("alive":{"memories":0,"samplers":0,"queues":0,"programs":0,"kernels":0,"events":0,"commands":0},"clients":[])";

}  // namespace wm::runtime::test
