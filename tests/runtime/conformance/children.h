// Clients in processes of their own, and clients that write protocol messages themselves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/conformance/sides.h"
#include "runtime/protocol/shared_area.h"
#include "runtime/protocol/socket.h"
#include "runtime/protocol/wire.h"

namespace wm::runtime::test {

// A process of helper/client_main.cc with these arguments; the destructor kills it if it still runs.
class Child {
 public:
  Child(const Daemon& daemon, const std::vector<std::string>& words);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  void kill();
  // Its exit status, or minus the signal that ended it; nothing after `seconds`.
  std::optional<int> wait(double seconds = 60);

 private:
  pid_t pid_ = 0;
};

// Whether the daemon's status contains the text, or does not contain it any more, within ten seconds.
bool comes_to_say(const Daemon& daemon, const std::string& text);
bool stops_saying(const Daemon& daemon, const std::string& text);

// A client that connects properly and then writes any messages.
struct RawClient {
  Descriptor socket;
  std::optional<SharedArea> area;
  std::optional<RingWriter> ring;
};
RawClient raw_client(const Daemon& daemon, const std::string& name);

inline constexpr const char* kNothingAlive =
    R"("alive":{"memories":0,"samplers":0,"queues":0,"programs":0,"kernels":0,"events":0,"commands":0},"clients":[])";

}  // namespace wm::runtime::test
