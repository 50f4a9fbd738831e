#include "lab/report/trace.h"

#ifdef WM_HAVE_PROTOZERO
#include <algorithm>
#include <fmt/format.h>

#include <protozero/pbf_builder.hpp>

#include "lab/run/rates.h"

namespace wm::lab {
namespace {

// The messages of Perfetto that are written here, with the field numbers of its .proto files.
enum class Trace : protozero::pbf_tag_type { packet = 1 };
enum class Packet : protozero::pbf_tag_type { timestamp = 8, sequence = 10, event = 11, descriptor = 60 };
enum class Track : protozero::pbf_tag_type {
  uuid = 1,
  name = 2,
  process = 3,
  parent = 5,
  counter = 8,
  order = 11,
  rank = 12
};
enum class Process : protozero::pbf_tag_type { pid = 1, name = 6 };
enum class Counter : protozero::pbf_tag_type { unit_name = 6 };
enum class Event : protozero::pbf_tag_type {
  annotation = 4,
  type = 9,
  track = 11,
  category = 22,
  name = 23,
  value = 44
};
enum class Annotation : protozero::pbf_tag_type { number = 3, text = 6, name = 10 };
constexpr std::int32_t kBegin = 1;
constexpr std::int32_t kEnd = 2;
constexpr std::int32_t kCount = 4;
constexpr std::int32_t kByRank = 3;
constexpr std::uint32_t kSequence = 1;

constexpr std::uint64_t kProcess = 1;

class Writer {
 public:
  explicit Writer(std::string& out) : trace_(out) {}

  void process(const std::string& name) {
    protozero::pbf_builder<Packet> packet(trace_, Trace::packet);
    packet.add_uint32(Packet::sequence, kSequence);
    protozero::pbf_builder<Track> track(packet, Packet::descriptor);
    track.add_uint64(Track::uuid, kProcess);
    track.add_enum(Track::order, kByRank);
    protozero::pbf_builder<Process> process(track, Track::process);
    process.add_int32(Process::pid, 1);
    process.add_string(Process::name, name);
  }

  // Perfetto draws tracks of one parent with the same name as rows of one track.
  std::uint64_t track(const std::string& name, std::uint64_t parent = kProcess) {
    describe(name, parent, nullptr);
    return last_;
  }

  std::uint64_t counter(const std::string& name, const char* unit) {
    describe(name, kProcess, unit);
    return last_;
  }

  void begin(std::uint64_t track, std::uint64_t at, const std::string& name) { slice(track, at, &name, nullptr); }
  void begin(std::uint64_t track, const sim::BlockSpan& span, const std::string& name) {
    slice(track, span.begin, &name, &span);
  }
  void end(std::uint64_t track, std::uint64_t at) { slice(track, at, nullptr, nullptr); }

  void value(std::uint64_t track, std::uint64_t at, double value) {
    protozero::pbf_builder<Packet> packet(trace_, Trace::packet);
    packet.add_uint64(Packet::timestamp, at);
    packet.add_uint32(Packet::sequence, kSequence);
    protozero::pbf_builder<Event> event(packet, Packet::event);
    event.add_enum(Event::type, kCount);
    event.add_uint64(Event::track, track);
    event.add_double(Event::value, value);
  }

 private:
  void describe(const std::string& name, std::uint64_t parent, const char* unit) {
    protozero::pbf_builder<Packet> packet(trace_, Trace::packet);
    packet.add_uint32(Packet::sequence, kSequence);
    protozero::pbf_builder<Track> track(packet, Packet::descriptor);
    track.add_uint64(Track::uuid, ++last_);
    track.add_string(Track::name, name);
    track.add_uint64(Track::parent, parent);
    track.add_int32(Track::rank, static_cast<std::int32_t>(last_));
    if (unit == nullptr) return;
    protozero::pbf_builder<Counter> counter(track, Track::counter);
    counter.add_string(Counter::unit_name, unit);
  }

  void slice(std::uint64_t track, std::uint64_t at, const std::string* name, const sim::BlockSpan* span) {
    protozero::pbf_builder<Packet> packet(trace_, Trace::packet);
    packet.add_uint64(Packet::timestamp, at);
    packet.add_uint32(Packet::sequence, kSequence);
    protozero::pbf_builder<Event> event(packet, Packet::event);
    event.add_enum(Event::type, name != nullptr ? kBegin : kEnd);
    event.add_uint64(Event::track, track);
    if (name != nullptr) event.add_string(Event::name, *name);
    if (span == nullptr) return;
    event.add_string(Event::category, "block");
    number(event, "block", span->block.number);
    number(event, "launch", span->block.launch);
    static constexpr std::array<const char*, 4> kHow{"done", "preempted", "dropped", "still running"};
    text(event, "ends", kHow[static_cast<std::size_t>(span->how)]);
    if (span->resumed) text(event, "begins", "resumed");
  }

  static void number(protozero::pbf_builder<Event>& event, const char* name, std::uint64_t value) {
    protozero::pbf_builder<Annotation> annotation(event, Event::annotation);
    annotation.add_string(Annotation::name, name);
    annotation.add_uint64(Annotation::number, value);
  }
  static void text(protozero::pbf_builder<Event>& event, const char* name, const char* value) {
    protozero::pbf_builder<Annotation> annotation(event, Event::annotation);
    annotation.add_string(Annotation::name, name);
    annotation.add_string(Annotation::text, value);
  }

  protozero::pbf_builder<Trace> trace_;
  std::uint64_t last_ = kProcess;  // id of the last track
};

// Kernels with the same name are distinguished by their number.
std::vector<std::string> names_of(const CorunResult& run) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < run.kernels.size(); ++i) {
    const bool twice = std::count_if(run.kernels.begin(), run.kernels.end(),
                                     [&](const KernelResult& k) { return k.name == run.kernels[i].name; }) > 1;
    names.push_back(twice ? fmt::format("{} #{}", run.kernels[i].name, i) : run.kernels[i].name);
  }
  return names;
}

void write_blocks(Writer& out, const sim::Timeline& timeline, const std::vector<std::string>& names) {
  std::vector<const sim::BlockSpan*> spans;
  for (const sim::BlockSpan& s : timeline.blocks()) spans.push_back(&s);
  std::stable_sort(spans.begin(), spans.end(), [](const sim::BlockSpan* a, const sim::BlockSpan* b) {
    if (a->block.sm != b->block.sm) return a->block.sm < b->block.sm;
    return a->row != b->row ? a->row < b->row : a->begin < b->begin;
  });
  const sim::BlockSpan* last = nullptr;
  std::uint64_t track = 0;
  for (const sim::BlockSpan* s : spans) {
    if (last == nullptr || last->block.sm != s->block.sm || last->row != s->row)
      track = out.track(fmt::format("SM {:02}", s->block.sm));
    out.begin(track, *s, names[s->block.client]);
    out.end(track, s->end);
    last = s;
  }
}

// An SM gets a slice only while it is owned or switched off; being on and shared is the normal state.
std::string state_of(const sim::SmSpan& s, const std::vector<std::string>& names) {
  using State = policy::Sm::State;
  const bool owned = s.owner.index < names.size();
  if (s.state == State::off) return "switched off";
  if (s.state == State::gating) return "emptied, to be switched off";
  if (s.state == State::waking) return "waking";
  if (s.state == State::reserved) return "changing hands";
  return owned ? "owned by " + names[s.owner.index] : "";
}

void write_owners(Writer& out, const sim::Timeline& timeline, const std::vector<std::string>& names) {
  std::vector<std::uint64_t> tracks(timeline.sm_count(), 0);
  for (const sim::SmSpan& s : timeline.sms()) {
    const std::string state = state_of(s, names);
    if (state.empty() || s.begin == s.end) continue;
    if (tracks[s.sm] == 0) tracks[s.sm] = out.track(fmt::format("SM {:02} owner", s.sm));
    out.begin(tracks[s.sm], s.begin, state);
    out.end(tracks[s.sm], s.end);
  }
}

void write_counters(Writer& out, const std::vector<IntervalRates>& intervals, const CorunResult& run,
                    const std::vector<std::string>& names) {
  const auto curve = [&](const std::string& name, const char* unit, const auto& value) {
    const std::uint64_t track = out.counter(name, unit);
    for (const IntervalRates& i : intervals) out.value(track, i.begin, value(i));
    if (!intervals.empty()) out.value(track, intervals.back().begin + intervals.back().cycles, 0);
  };
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto of = [k](const IntervalRates& i) -> const KernelRates& { return i.kernels[k]; };
    curve(names[k] + ": IPC", "instructions a cycle", [&](const auto& i) { return of(i).ipc; });
    if (run.kernels[k].goal)
      curve(names[k] + ": goal", "instructions a cycle", [&](const auto&) { return *run.kernels[k].goal; });
    curve(names[k] + ": DRAM", "GB/s", [&](const auto& i) { return of(i).gigabytes; });
    curve(names[k] + ": L1 hits", "%", [&](const auto& i) { return of(i).l1_hit.value_or(0) * 100; });
    curve(names[k] + ": L2 hits", "%", [&](const auto& i) { return of(i).l2_hit.value_or(0) * 100; });
    curve(names[k] + ": blocks", "resident", [&](const auto& i) { return of(i).resident; });
    if (std::any_of(intervals.begin(), intervals.end(), [&](const auto& i) { return of(i).quota.has_value(); }))
      curve(names[k] + ": quota left", "instructions",
            [&](const auto& i) { return static_cast<double>(of(i).quota.value_or(0)); });
  }
  curve("DRAM", "GB/s", [](const auto& i) { return i.gigabytes; });
  curve("power", "W", [](const auto& i) { return i.watts; });
}

}  // namespace

Result<std::string> perfetto_trace(const gpu::GpuConfig& gpu, const CorunResult& run, const sim::Timeline& timeline) {
  std::string bytes;
  Writer out(bytes);
  const std::vector<std::string> names = names_of(run);
  out.process(fmt::format("{} under {} (1 ns is a cycle)", run.gpu, run.policy));
  write_counters(out, rates_of(gpu, timeline), run, names);
  write_blocks(out, timeline, names);
  write_owners(out, timeline, names);
  return bytes;
}

}  // namespace wm::lab

#else

namespace wm::lab {

Result<std::string> perfetto_trace(const gpu::GpuConfig&, const CorunResult&, const sim::Timeline&) {
  return Error{"this build writes no traces: protozero (Debian's libprotozero-dev) was missing"};
}

}  // namespace wm::lab

#endif
