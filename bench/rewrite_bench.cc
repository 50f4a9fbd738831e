// The time of rewriting a program: with a worker that must be started first, with one that runs, and from the cache.
//
// The bars are 60 ms a program that is new and 2 ms for one that is known.
#include <benchmark/benchmark.h>
#include <filesystem>
#include <string>
#include <unistd.h>

#include "kernels/benchmark.h"
#include "rewrite/rewriter.h"

namespace {

using wm::rewrite::Request;
using wm::rewrite::Rewriter;

Request request_for(const char* name) { return {.source = std::string((*wm::zoo::find(name))->source)}; }

void answer(benchmark::State& state, Rewriter& rewriter, const Request& request) {
  const auto reply = rewriter.rewrite(request);
  if (!reply || reply->source.empty()) state.SkipWithError("not rewritten");
}

// The first program of a process: starting the worker is part of it.
void first(benchmark::State& state, const char* name) {
  const Request request = request_for(name);
  for (auto _ : state) {
    Rewriter rewriter({.worker = WM_REWRITE_PROGRAM, .cache_folder = {}});
    answer(state, rewriter, request);
  }
}

void fresh(benchmark::State& state, const char* name) {
  const Request request = request_for(name);
  Rewriter rewriter({.worker = WM_REWRITE_PROGRAM, .cache_folder = {}});
  answer(state, rewriter, request);
  for (auto _ : state) answer(state, rewriter, request);
}

void cached(benchmark::State& state, const char* name) {
  const Request request = request_for(name);
  const auto folder = std::filesystem::temp_directory_path() / ("wm-rewrite-bench-" + std::to_string(getpid()));
  Rewriter rewriter({.worker = WM_REWRITE_PROGRAM, .cache_folder = folder.string()});
  answer(state, rewriter, request);
  for (auto _ : state) answer(state, rewriter, request);
  std::filesystem::remove_all(folder);
}

// A dozen lines, seventy, three hundred.
#define WM_EACH_SIZE(way)                                                                   \
  BENCHMARK_CAPTURE(way, vecadd, "vecadd")->Unit(benchmark::kMillisecond)->UseRealTime();   \
  BENCHMARK_CAPTURE(way, hotspot, "hotspot")->Unit(benchmark::kMillisecond)->UseRealTime(); \
  BENCHMARK_CAPTURE(way, mri_gridding, "mri-gridding")->Unit(benchmark::kMillisecond)->UseRealTime()
WM_EACH_SIZE(first);
WM_EACH_SIZE(fresh);
WM_EACH_SIZE(cached);

}  // namespace

BENCHMARK_MAIN();
