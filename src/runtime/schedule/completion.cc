// How the scheduler learns that a command has ended, on devices with memory of their own: a thread looks.
//
// Their drivers call back late and at a price that every launch would pay, and a look at an event holds up whoever
// enqueues. So one event of a queue is looked at, the last of those that may be heard of together: what comes before it
// on a queue in order has ended too.
#include <algorithm>
#include <chrono>

#include "runtime/schedule/scheduler.h"
#include "runtime/session/session.h"

namespace wm::runtime {
namespace {

// What may be told late: by so much if somebody could be waiting for it, by more if nobody can.
constexpr double kLate = 20'000, kLateUnseen = 100'000;  // nanoseconds
constexpr auto kBetweenLooks = std::chrono::nanoseconds(2500), kBetweenIdleLooks = std::chrono::nanoseconds(15'000);
constexpr double kSurely = 0.5;  // of the time that a launch took before is not looked for its end, up to `kLate`
constexpr std::uint32_t kMostUnheard = 15;
constexpr std::uint64_t kClockHolds = 10'000'000;           // nanoseconds in which the two clocks do not drift apart
constexpr std::uint64_t kUnheardFor = 50'000;               // nanoseconds: nothing has followed by then
constexpr auto kPatience = std::chrono::microseconds(300);  // without news, before it looks only now and then
constexpr auto kNap = std::chrono::microseconds(15);
constexpr std::uint64_t kAskDriver = 100'000;  // nanoseconds between questions about what has a flag

}  // namespace

void Scheduler::watch(cl_command_queue queue, bool in_order, Completion ended) {
  auto line = std::find_if(lines_.begin(), lines_.end(), [&](const Line& l) { return l.queue == queue; });
  if (line == lines_.end() || !in_order) ++lines_changed_;
  if (line == lines_.end()) line = lines_.insert(lines_.end(), Line{queue, in_order, {}});
  const Command& command = *ended.command;
  ended.expected = command.launch ? expected(*command.launch).value_or(kLateUnseen) : 0;
  if (ended.event != nullptr) enqueue_flag(queue, in_order, ended);
  line->open.push_back(std::move(ended));
  if (on_device_.fetch_add(1, std::memory_order_release) != 0) return;
  { const std::lock_guard lock(news_mutex_); }
  news_.notify_one();
}

// Where somebody else's command is on the device, the driver may tell of this one's end only after that one's.
void Scheduler::enqueue_flag(cl_command_queue queue, bool in_order, Completion& ended) {
  const auto others = [&](const Line& l) {
    return !l.open.empty() && l.open.front().command->client != ended.command->client;
  };
  // The next one's on the same queue will do.
  if (in_order && ended.command->followed && !ended.batch) return;
  if (std::none_of(lines_.begin(), lines_.end(), others)) return;
  ended.flag = completion_flags_.enqueue(queue, in_order ? nullptr : ended.event);
}

// The last of the first ones in line that may be told of together.
std::size_t Scheduler::last_to_tell(const Line& line) {
  std::size_t last = 0;
  double late = 0;
  while (line.in_order && last + 1 < line.open.size()) {
    const Completion& next = line.open[last + 1];
    late += next.expected;
    if (next.batch || line.open[last].batch) break;
    if (late > (line.open[last].command->slot == kNoEvent ? kLateUnseen : kLate)) break;
    ++last;
  }
  return last;
}

bool Scheduler::awaited(const Line& line, std::size_t last) const {
  return in_company() ||
         std::any_of(
             line.open.begin(), line.open.begin() + static_cast<std::ptrdiff_t>(last) + 1, [](const Completion& e) {
               const auto& after = e.command->after;
               return e.command->slot != kNoEvent || e.batch ||
                      std::any_of(after.begin(), after.end(), [](const Command::Edge& edge) { return !edge.early; });
             });
}

void Scheduler::choose_events() {
  watched_.clear();
  unsettled_ = false;
  for (Line& line : lines_) {
    if (line.in_order) {
      std::size_t last = last_to_tell(line);
      while (line.open[last].event == nullptr && last + 1 < line.open.size()) ++last;
      // A flag further down is heard before an event that the driver does not tell of yet.
      const auto ringer = std::find_if(line.open.begin() + static_cast<std::ptrdiff_t>(last), line.open.end(),
                                       [](const Completion& e) { return e.flag.has_value(); });
      if (ringer != line.open.end()) last = static_cast<std::size_t>(ringer - line.open.begin());
      cl_int status = CL_QUEUED;
      Queue& queue = *line.open.front().command->queue;
      if (queue.unflushed != 0 && now() - line.open.back().command->submitted > kUnheardFor) {
        native_.cl.Flush(line.queue);
        queue.unflushed = 0;
      }
      unsettled_ |= queue.unflushed != 0;
      if (line.open[last].event == nullptr) {
        if (now() - line.open.front().command->submitted < kUnheardFor) {
          unsettled_ = true;
          continue;
        }
        status = make_heard(line);
      }
      double expected_time = 0;  // only where it was measured on the device: what is heard late was not long for that
      for (std::size_t i = 0; i <= last && queue.timed; ++i) {
        const Command& command = *line.open[i].command;
        if (command.launch) expected_time += expected(*command.launch).value_or(0);
      }
      const std::uint64_t since = std::max(line.open.front().command->submitted, queue.heard);
      watched_.push_back({line.queue, line.open[last].event, awaited(line, last),
                          since + static_cast<std::uint64_t>(std::min(expected_time * kSurely, kLate)), status,
                          line.open[last].flag});
    } else {
      for (const Completion& e : line.open) watched_.push_back({line.queue, e.event, true, 0, CL_QUEUED, e.flag});
    }
  }
}

bool Scheduler::can_skip_event(const Command& command) const {
  const Queue& queue = *command.queue;
  if (native_.in_host_memory() || !command.followed || command.slot != kNoEvent || !queue.in_order) return false;
  const auto time = expected(*command.launch);
  if (!time || queue.unheard >= kMostUnheard || queue.unheard_nanoseconds + *time > kLateUnseen) return false;
  return std::all_of(command.after.begin(), command.after.end(), [&](const Command::Edge& edge) {
    return edge.order && edge.command->queue == command.queue && may_follow(*edge.command);
  });
}

void Scheduler::make_heard(const Command& command) {
  ++lines_changed_;
  if (native_.in_host_memory() || !command.queue) return;
  const auto line =
      std::find_if(lines_.begin(), lines_.end(), [&](const Line& l) { return l.queue == command.queue->native.get(); });
  if (line != lines_.end()) make_heard(*line);
}

// What a device that takes no marker had on that line has failed.
cl_int Scheduler::make_heard(Line& line) {
  Completion& last = line.open.back();
  if (last.event != nullptr) {
    if (last.command->queue->unflushed != 0) native_.cl.Flush(line.queue);
    last.command->queue->unflushed = 0;
    return CL_QUEUED;
  }
  const cl_int status = native_.cl.EnqueueMarkerWithWaitList(line.queue, 0, nullptr, &last.event);
  if (status != CL_SUCCESS) return last.event = nullptr, status;
  enqueue_flag(line.queue, true, last);
  native_.cl.Flush(line.queue);
  last.command->queue->unflushed = 0;
  last.command->queue->unheard = 0;
  last.command->queue->unheard_nanoseconds = 0;
  ++lines_changed_;
  return CL_QUEUED;
}

void Scheduler::take_ended(const Watched& watched, std::vector<Completion>& ended) {
  const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const Line& l) { return l.queue == watched.queue; });
  const auto end =
      std::find_if(line->open.begin(), line->open.end(), [&](const Completion& e) { return e.event == watched.event; });
  const auto begin = line->in_order ? line->open.begin() : end;
  const std::uint64_t time = now();
  end->command->queue->heard = time;
  for (auto it = begin; it != end + 1; ++it) {
    it->time = time;
    it->among = static_cast<std::size_t>(end + 1 - it);
    it->status = watched.state < 0 ? watched.state : CL_COMPLETE;
    if (it->flag) completion_flags_.release(*it->flag);
    ended.push_back(std::move(*it));
  }
  line->open.erase(begin, end + 1);
  if (line->open.empty()) lines_.erase(line);
}

void Scheduler::ask(Completion& ended) const {
  if (ended.event == nullptr) return;
  if (ended.status < 0) {
    native_.cl.GetEventInfo(ended.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof ended.status, &ended.status,
                            nullptr);
  }
  if (is_timed(*ended.command)) {
    const DeviceTimes times = times_of(ended.event, now() - clocks_compared_ > kClockHolds);
    if (times.ended != 0) ended.times = times;
  }
  native_.cl.ReleaseEvent(ended.event);
  ended.event = nullptr;
}

void Scheduler::look_at(Watched& watched, bool driver) const {
  if (watched.flag && completion_flags_.is_set(*watched.flag)) {
    watched.state = CL_COMPLETE;
  } else if (!watched.flag || driver) {
    const cl_int told = native_.cl.GetEventInfo(watched.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof watched.state,
                                                &watched.state, nullptr);
    if (told != CL_SUCCESS) watched.state = told;  // what cannot be asked about has failed
  }
}

void Scheduler::look() {
  using Clock = std::chrono::steady_clock;
  auto news = Clock::now();
  std::uint64_t asked_driver = 0;
  for (std::uint64_t known = 0;;) {
    std::optional<Cycles> alarm;
    {
      const std::lock_guard lock(mutex_);
      choose_events();
      known = lines_changed_;
      alarm = machine_.next_alarm();
    }
    const auto due = [&] { return alarm && alarm->count <= now(); };
    if (watched_.empty()) {
      const auto more = [this] { return on_device_.load(std::memory_order_acquire) != 0; };
      if (!spin_until(more) && !due()) {
        std::unique_lock lock(news_mutex_);
        if (stop_) return;
        const auto until = alarm ? Clock::time_point(Clock::duration(alarm->count)) : Clock::time_point::max();
        const auto wake = [&] { return stop_ || more(); };
        if (alarm) {
          news_.wait_until(lock, until, wake);
        } else {
          news_.wait(lock, wake);
        }
      }
      news = Clock::now();
      if (more()) {  // nothing of it has an event yet
        while (Clock::now() - news < kBetweenLooks) {
        }
      }
    }
    bool any = false;
    const std::uint64_t chosen = now();
    for (bool again = !watched_.empty(); again && !any && !due();) {
      const std::uint64_t looked = now();
      const bool driver = looked - asked_driver > kAskDriver;
      if (driver) asked_driver = looked;
      for (Watched& w : watched_) {
        if (w.event != nullptr && looked >= w.not_before) look_at(w, driver);
        any |= w.state <= CL_COMPLETE;
      }
      if (any) break;
      const auto time = Clock::now();
      if (time - news > kPatience) {
        std::this_thread::sleep_for(kNap);
      } else {
        const bool urgent = std::any_of(watched_.begin(), watched_.end(), [](const Watched& w) { return w.awaited; });
        while (Clock::now() - time < (urgent ? kBetweenLooks : kBetweenIdleLooks) && lines_changed_ == known) {
        }
      }
      again = lines_changed_.load(std::memory_order_relaxed) == known && !(unsettled_ && now() - chosen > kUnheardFor);
    }
    if (!any && !due()) continue;
    news = Clock::now();
    std::vector<Completion> ended;
    if (any) {
      const std::lock_guard lock(mutex_);
      for (const Watched& w : watched_) {
        if (w.state <= CL_COMPLETE) take_ended(w, ended);
      }
    }
    for (Completion& e : ended) ask(e);
    const std::lock_guard lock(mutex_);
    machine_.set_now(Cycles{now()});
    for (const Completion& e : ended) hear(e);
    on_device_.fetch_sub(ended.size(), std::memory_order_relaxed);
    ring();
    work();
  }
}

}  // namespace wm::runtime
