#include "probes/probe.h"

#include <utility>

namespace wm::validation {

std::string probe_module(const std::string& before, const std::string& body, const std::string& after,
                         std::uint32_t shared_bytes) {
  const std::string shared =
      shared_bytes == 0 ? "" : ".shared .align 16 .b8 s[" + std::to_string(shared_bytes) + "];\n";
  return ".version 7.0\n.target sm_80\n.address_size 64\n"
         ".visible .entry k(.param .u64 data, .param .u64 clocks, .param .u32 clock_index, .param .u32 count) {\n"
         ".reg .pred %p<32>;\n.reg .b32 %r<96>;\n.reg .b64 %rd<96>;\n.reg .f32 %f<96>;\n.reg .f64 %fd<96>;\n" +
         shared +
         "ld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [clocks];\nld.param.u32 %r7, [clock_index];\n"
         "ld.param.u32 %r5, [count];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
         "mad.lo.s32 %r1, %r2, %r3, %r4;\nmov.u32 %r6, 0;\n" +
         before + "bar.sync 0;\nmov.u64 %rd3, %clock64;\nL:\n" + body +
         "add.s32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, %r5;\n@%p1 bra L;\n"
         "bar.sync 0;\nmov.u64 %rd4, %clock64;\n" +
         after +
         "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra E;\nsub.s64 %rd4, %rd4, %rd3;\n"
         "mul.wide.u32 %rd5, %r7, 8;\nadd.s64 %rd5, %rd2, %rd5;\nst.global.u64 [%rd5], %rd4;\nE:\nret;\n}\n";
}

Probe make_probe(std::string name, std::string unit, std::string ptx, std::uint32_t blocks, std::uint32_t threads,
                 const std::vector<std::uint64_t>& data, std::uint32_t n) {
  Probe p{.name = std::move(name), .unit = std::move(unit), .ptx = std::move(ptx), .application = {}, .clocks = {}};
  const gpu::BufferId buffer = p.application.add("data", data);
  p.clocks = p.application.add("clocks", std::vector<std::uint64_t>(4));
  p.application.upload(buffer);
  p.application.upload(p.clocks);
  std::uint32_t clock_index = 0;
  for (const std::uint32_t count : {n / 4 + 1, n, 3 * n})
    p.application.launch(
        {.kernel = "k",
         .grid = {blocks},
         .block = {threads},
         .arguments = {gpu::buffer(buffer), gpu::buffer(p.clocks), gpu::scalar(clock_index++), gpu::scalar(count)},
         .dynamic_shared_bytes = 0});
  return p;
}

double value_of(const Probe& probe, const std::vector<double>& cycles) {
  const double time = probe.slope ? cycles[2] - cycles[1] : cycles[2];
  return probe.rate ? probe.work / time : time / probe.work;
}

std::vector<Probe> probes(std::uint32_t sms) {
  std::vector<Probe> all;
  add_instruction_probes(all);
  add_shared_probes(all);
  add_control_probes(all);
  add_memory_probes(all, sms);
  add_launch_probes(all, sms);
  return all;
}

}  // namespace wm::validation
