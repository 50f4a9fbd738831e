#include "rewrite/ptx/worker_code.h"

namespace wm::rewrite {

WorkerCode::WorkerCode(ptx::Function& kernel, std::uint32_t barrier, Completion by)
    : editor_(kernel), barrier_(barrier), completes_itself_(by == Completion::launch) {
  control_ = editor_.add_address_parameter("wm_control");
  ptx::Variable grid;
  grid.name = "wm_grid";
  grid.space = ptx::Space::param;
  grid.type = Type::b8;
  grid.align = 8;
  grid.shape = {sizeof(PersistentGrid)};
  grid_ = editor_.add_parameter(grid);
  ptx::Variable ticket;
  ticket.name = "wm_ticket";
  ticket.space = ptx::Space::shared;
  ticket.type = Type::b32;
  ticket.align = 4;
  // The number and coordinates of a chunk's first virtual block, whether the worker is free, and the virtual blocks
  // that it has ended.
  ticket.shape = {6};
  ticket_ = editor_.add_variable(ticket);
  address_ = editor_.add_register("%wm_control", Type::b64);
  first_ = editor_.add_register("%wm_first", Type::pred);
  scratch_.test = editor_.add_register("%wm_test", Type::pred);
  sm_ = editor_.add_register("%wm_sm", Type::b64);
  queue_ = editor_.add_register("%wm_queue", Type::b64);
  scratch_.address = editor_.add_register("%wm_address", Type::b64);
  for (Reg* reg : {&blocks_.block, &blocks_.total, &blocks_.chunk, &scratch_.temporary, &scratch_.low, &scratch_.high,
                   &scratch_.looks, &free_, &ended_.blocks, &ended_.before}) {
    *reg = editor_.add_register("%wm_word", Type::b32);
  }
  for (const Special special : kVirtualSpecials) values_.emplace(special, editor_.add_register("%wm_id", Type::b32));
  labels_.next = editor_.add_label("$wm_next");
  labels_.wrap = editor_.add_label("$wm_wrap");
  labels_.ended = editor_.add_label("$wm_ended");
  labels_.fetch = editor_.add_label("$wm_fetch");
  labels_.ahead = editor_.add_label("$wm_ahead");
  labels_.look = editor_.add_label("$wm_look");
  labels_.take = editor_.add_label("$wm_take");
  labels_.queue = editor_.add_label("$wm_queue");
  labels_.leave = editor_.add_label("$wm_leave");
  labels_.gone = editor_.add_label("$wm_gone");
  labels_.store = editor_.add_label("$wm_store");
  labels_.divided = editor_.add_label("$wm_divided");
  labels_.fetched = editor_.add_label("$wm_fetched");
  labels_.start = editor_.add_label("$wm_start");
  // Workers of a launch that the process completes may leave at any time.
  labels_.early = completes_itself_ ? editor_.add_label("$wm_early") : labels_.leave;
  labels_.unless_last = completes_itself_ ? editor_.add_label("$wm_unless_last") : labels_.gone;
  labels_.counted = completes_itself_ ? editor_.add_label("$wm_counted") : labels_.store;
  if (completes_itself_) labels_.last = editor_.add_label("$wm_last");
}

}  // namespace wm::rewrite
