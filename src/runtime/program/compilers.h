// Limits how many compilations run at once to the number of processors, and gives clients equal parts of them: the next
// compilation is one of the client that has the fewest running, and of several such clients the one whose last
// compilation began first.
// A compilation whose client has gone is not started.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/protocol/status.h"

namespace wm::runtime {

struct CompilingClient {
  const void* id = nullptr;
  std::function<bool()> has_gone;
};

class Compilers {
 public:
  Compilers();
  explicit Compilers(unsigned processors) : idle_(processors) {}
  // The compilations that run at once on a host with so many processors: one that takes long must not hold up all.
  [[nodiscard]] static unsigned at_once(unsigned processors);

  // Waits for a free processor and returns the result of `compile`; nothing if the client has gone by then.
  template <typename Compile>
  std::optional<Status> run(const CompilingClient& client, Compile compile) {
    acquire(client.id);
    std::optional<Status> status;
    if (!client.has_gone()) status = compile();
    release(client.id);
    return status;
  }
  [[nodiscard]] std::size_t waiting() const;

 private:
  struct Waiting {
    const void* client;
    bool admitted = false;
  };
  void acquire(const void* client);
  void release(const void* client);
  void admit();  // the mutex is held
  // Whether the compilation of `a` is to begin before that of `b`, which came first.
  [[nodiscard]] bool precedes(const Waiting& a, const Waiting& b) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  unsigned idle_;
  std::list<Waiting> waiting_;  // in order of arrival
  struct ClientState {
    unsigned requests = 0, running = 0;  // requests: waiting or running
    std::uint64_t last_start = 0;        // number of its last compilation
  };
  std::map<const void*, ClientState> clients_;  // those with requests
  std::uint64_t starts_ = 0;
};

}  // namespace wm::runtime
