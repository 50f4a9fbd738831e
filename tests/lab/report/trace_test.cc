// A trace is read back with the same library that wrote it, by the numbers of Perfetto's .proto files, and must tell
// the run: every slice ends, every block is one, counters are on tracks of their own.
#ifdef WM_HAVE_PROTOZERO
#include "lab/report/trace.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

#include <protozero/pbf_reader.hpp>

#include "lab/scratch.h"

namespace wm::lab {
namespace {

struct Slice {
  std::uint64_t track = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string name;
  std::string ends;
};

// Field numbers once more, on purpose: a test that shared the writer's would not see a wrong one.
struct ReadTrace {
  explicit ReadTrace(const std::string& bytes) {
    protozero::pbf_reader trace(bytes);
    while (trace.next(1)) packet(trace.get_message());
  }

  void packet(protozero::pbf_reader p) {
    std::uint64_t at = 0;
    while (p.next()) {
      if (p.tag() == 8)
        at = p.get_uint64();
      else if (p.tag() == 60)
        descriptor(p.get_message());
      else if (p.tag() == 11)
        event(p.get_message(), at);
      else
        p.skip();
    }
  }

  void descriptor(protozero::pbf_reader d) {
    std::uint64_t uuid = 0;
    std::string name;
    bool counter = false;
    while (d.next()) {
      if (d.tag() == 1)
        uuid = d.get_uint64();
      else if (d.tag() == 2)
        name = d.get_string();
      else {
        counter = counter || d.tag() == 8;
        d.skip();
      }
    }
    EXPECT_TRUE(tracks.emplace(uuid, name).second) << "track " << uuid << " is described twice";
    if (counter) counters.insert(uuid);
  }

  void event(protozero::pbf_reader e, std::uint64_t at) {
    std::int32_t type = 0;
    Slice s{.track = 0, .begin = at, .end = at, .name = "", .ends = ""};
    double value = 0;
    while (e.next()) {
      if (e.tag() == 9)
        type = e.get_enum();
      else if (e.tag() == 11)
        s.track = e.get_uint64();
      else if (e.tag() == 23)
        s.name = e.get_string();
      else if (e.tag() == 44)
        value = e.get_double();
      else if (e.tag() == 4)
        annotation(e.get_message(), s);
      else
        e.skip();
    }
    EXPECT_EQ(tracks.count(s.track), 1U) << "an event on a track without a description";
    if (type == 1) {
      EXPECT_FALSE(open.count(s.track)) << "two slices at once on one row";
      open[s.track] = s;
    } else if (type == 2) {
      ASSERT_TRUE(open.count(s.track)) << "a slice ends that never began";
      Slice& began = open[s.track];
      EXPECT_LE(began.begin, at);
      began.end = at;
      slices.push_back(began);
      open.erase(s.track);
    } else if (type == 4) {
      EXPECT_TRUE(counters.count(s.track));
      values[tracks[s.track]].emplace_back(at, value);
    }
  }

  static void annotation(protozero::pbf_reader a, Slice& s) {
    std::string name;
    std::string text;
    while (a.next()) {
      if (a.tag() == 10)
        name = a.get_string();
      else if (a.tag() == 6)
        text = a.get_string();
      else
        a.skip();
    }
    if (name == "ends") s.ends = text;
  }

  std::map<std::uint64_t, std::string> tracks;
  std::set<std::uint64_t> counters;
  std::map<std::uint64_t, Slice> open;
  std::vector<Slice> slices;
  std::map<std::string, std::vector<std::pair<std::uint64_t, double>>> values;
};

struct Traced {
  explicit Traced(const std::string& policy) : gpu(test_gpu()) {
    CorunOptions options;
    options.timeline = &timeline;
    options.isolated = false;
    result = *corun(gpu, {zoo_participant("lbm"), zoo_participant("lbm"), zoo_participant("mri-q")},
                    *policy::choose(policy), options);
    bytes = *perfetto_trace(gpu, result, timeline);
  }
  gpu::GpuConfig gpu;
  sim::Timeline timeline{1000};
  CorunResult result;
  std::string bytes;
};

TEST(Trace, EveryBlockIsASliceOnItsSmNamedByKernel) {
  const Traced run("even");
  const ReadTrace trace(run.bytes);
  EXPECT_TRUE(trace.open.empty()) << "slices that never end";
  std::map<std::string, std::uint64_t> done;
  for (const Slice& s : trace.slices) {
    if (s.ends != "done") continue;
    ++done[s.name];
    EXPECT_EQ(trace.tracks.at(s.track).substr(0, 3), "SM ");
    EXPECT_LE(s.end, run.result.cycles);
  }
  EXPECT_EQ(done["lbm #0"], run.result.kernels[0].totals.blocks) << "two kernels of one name are told apart";
  EXPECT_EQ(done["lbm #1"], run.result.kernels[1].totals.blocks);
  EXPECT_EQ(done["mri-q"], run.result.kernels[2].totals.blocks);
}

TEST(Trace, CountersTellTheRatesOfEachKernel) {
  const Traced run("even");
  const ReadTrace trace(run.bytes);
  for (const char* name : {"mri-q: IPC", "mri-q: DRAM", "mri-q: L1 hits", "mri-q: L2 hits", "mri-q: blocks", "power"})
    EXPECT_TRUE(trace.values.count(name)) << name;
  const auto& ipc = trace.values.at("mri-q: IPC");
  double instructions = 0;
  for (std::size_t i = 0; i + 1 < ipc.size(); ++i)
    instructions += ipc[i].second * static_cast<double>(ipc[i + 1].first - ipc[i].first);
  EXPECT_NEAR(instructions, static_cast<double>(run.result.kernels[2].totals.sm.thread_instructions), 1);
}

TEST(Trace, OwnersAndQuotasAreShownWhereAPolicyUsesThem) {
  const ReadTrace spatial(Traced("spatial").bytes);
  std::set<std::string> states;
  for (const Slice& s : spatial.slices)
    if (s.ends.empty()) states.insert(s.name);
  EXPECT_TRUE(states.count("owned by mri-q"));
  EXPECT_FALSE(spatial.values.count("mri-q: quota left"));
  EXPECT_TRUE(ReadTrace(Traced("smk").bytes).values.count("mri-q: quota left"));
}

}  // namespace
}  // namespace wm::lab
#endif
