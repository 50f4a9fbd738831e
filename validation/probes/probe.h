// Probes: small kernels that each measure one figure of a GPU (a latency, a rate), the same PTX on hardware and in the
// simulator.
//
// A probe launches its kernel three times: once to warm up, then with a short and a long count. The result is the
// slope between those two, so that launching, filling and draining cancel out. Times are SM cycles: those the kernel
// read from its own clock, or the time of the launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/application.h"

namespace wm::validation {

struct Probe {
  std::string name;  // "latency.fma.f32"
  std::string unit;  // unit of the value: "cycles", "operations/cycle/SM", "bytes/cycle"
  std::string ptx;
  gpu::Application application;
  gpu::BufferId clocks;       // by launch, 64 bits: cycles counted by the kernel; unused with `times_launch`
  bool times_launch = false;  // the probe reads the time of the launch, not the kernel's clock
  bool slope = true;          // otherwise only the time of the last launch
  double work = 1;            // the work that the long launch does in addition to that of the short one
  bool rate = false;          // value = work / time; else time / work
  bool cold = true;           // L2 must hold none of the buffers before the first launch
  bool in_tests = true;       // short enough for a test of the simulator
};

// Every probe, for a GPU of so many SMs.
std::vector<Probe> probes(std::uint32_t sms);

// The value, from the three launches' times.
double value_of(const Probe& probe, const std::vector<double>& cycles);

// Parts of the list.
void add_instruction_probes(std::vector<Probe>& to);
void add_shared_probes(std::vector<Probe>& to);
void add_control_probes(std::vector<Probe>& to);
void add_memory_probes(std::vector<Probe>& to, std::uint32_t sms);
void add_launch_probes(std::vector<Probe>& to, std::uint32_t sms);

// A module with the kernel `k(data, clocks, clock_index, count)`: `before`, then the clock, `body` `count` times, the
// clock, then `after`. It may use %rd1 (data), %r1 (thread of the grid), %r4 (of the block), %r5 (count), %r6 (the
// loop's number), and registers from %r10, %rd10, %f10, %fd10, %p2 on. Blocks wait for each other's threads around it.
std::string probe_module(const std::string& before, const std::string& body, const std::string& after,
                         std::uint32_t shared_bytes = 0);

// A probe that runs `ptx` with counts n and 3n (n/4 to warm up) on `blocks` of `threads`, over `data`.
Probe make_probe(std::string name, std::string unit, std::string ptx, std::uint32_t blocks, std::uint32_t threads,
                 const std::vector<std::uint64_t>& data, std::uint32_t n);

}  // namespace wm::validation
