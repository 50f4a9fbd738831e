// The words of one context's workers (rewrite/ptx/persistent_words.h): the SMs that they may use, and those in which
// each of their launches counts.
//
// The words of a launch are used once; when all of a block are used and their launches have ended, the block is zeroed
// and used again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "rewrite/ptx/persistent_words.h"
#include "runtime/client/cuda/interface/types.h"
#include "runtime/protocol/control_page.h"

namespace wm::forward {

inline constexpr std::uint32_t kAllSms = rewrite::kMaxSms;

// A launch of a kernel as workers, with its arguments: more workers of it can be started while it runs.
struct WorkerKernel {
  CUfunction function = nullptr;
  unsigned workers = 0, block_x = 1, block_y = 1, block_z = 1, shared_bytes = 0;
  CUstream stream = nullptr;
  std::vector<std::byte> values;     // the kernel's own parameters …
  std::vector<std::size_t> offsets;  // … and the place of each
  CUdeviceptr control = 0;           // the parameters that workers have behind these
  rewrite::PersistentGrid grid;

  // Pointers to all parameters, valid as long as this object stays where it is.
  [[nodiscard]] std::vector<void*> parameters();
};

class WorkerTable {
 public:
  // In the current context. Null: the driver makes none.
  static std::unique_ptr<WorkerTable> make(std::uint32_t allowed_sms);
  ~WorkerTable();
  WorkerTable(const WorkerTable&) = delete;
  WorkerTable& operator=(const WorkerTable&) = delete;

  // The words of a launch.
  struct Launch {
    std::size_t block = 0, index = 0;
    CUdeviceptr control = 0, queue = 0, before = 0;  // `before`: words that stay zero
    std::uint64_t complete = 0;                      // address of the word that becomes 1
  };
  // The context of the table is current in all that follows. Empty: too many launches are on their way.
  [[nodiscard]] std::optional<Launch> take();
  // The driver has taken the launch.
  void launched(const Launch& launch, WorkerKernel kernel);
  // The driver has refused it.
  void give_back(const Launch& launch);
  // The kernel is unloaded: no more workers of it are started.
  void forget(CUfunction function);

  // False: the context takes no more writes.
  [[nodiscard]] bool allow(std::uint32_t sms);
  // Starts more workers of the launch that runs in each stream; how many launches were made for that.
  unsigned add_workers();
  // The same for a launch that ran at the call before too and has workers on less than half of the program's SMs,
  // although it has begun and has blocks left: the driver may have placed workers elsewhere.
  unsigned add_where_few(const runtime::SmSet& resident, std::uint32_t own_sms);
  // The numbers of SMs that have workers; empty: not known.
  [[nodiscard]] std::optional<runtime::SmSet> resident();

 private:
  using CompletionWord = std::atomic<std::uint32_t>;
  struct Block {
    CUdeviceptr queues = 0;
    CompletionWord* complete = nullptr;
    CUevent zeroed = nullptr;
    std::size_t taken = 0, used = 0;  // handed out since it was zeroed, and not known to have ended
  };
  // A stream for workers that are added to a launch, and the end of the last ones.
  struct Beside {
    CUstream stream = nullptr;
    CUevent ended = nullptr;
  };
  struct Running {
    Launch words;
    WorkerKernel kernel;
    std::vector<std::size_t> beside;  // places in `beside_`
  };

  WorkerTable() = default;
  [[nodiscard]] bool open(std::uint32_t allowed_sms);
  [[nodiscard]] Block* usable_block();
  [[nodiscard]] bool add_block();
  [[nodiscard]] bool zero(Block& block) const;
  [[nodiscard]] bool zero(CUdeviceptr address, std::size_t bytes) const;
  [[nodiscard]] bool is_complete(const Running& running) const;
  void forget_ended();
  [[nodiscard]] unsigned add_workers(Running& running);
  // Some of its blocks have begun, and others have not: it does not wait for other work of its stream.
  [[nodiscard]] bool is_under_way(const Running& running) const;
  // A place in `beside_` whose workers have ended; empty: the driver makes no more streams.
  [[nodiscard]] std::optional<std::size_t> free_beside();

  CUstream stream_ = nullptr;
  CUdeviceptr control_ = 0, before_ = 0;
  std::uint32_t* counts_ = nullptr;  // pinned: workers by SM, and the next block of a launch
  std::vector<Block> blocks_;
  std::size_t current_ = 0;
  std::vector<Beside> beside_;
  std::list<Running> running_;     // in the order of their launches
  std::uint64_t first_queue_ = 0;  // the words of the launch that ran first at the last look
};

}  // namespace wm::forward
