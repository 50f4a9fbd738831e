#include "rewrite/ptx/worker_step.h"

#include <cstddef>
#include <cstring>
#include <variant>
#include <vector>

namespace wm::rewrite {
namespace {

template <typename T>
std::vector<std::uint32_t> words_of(const T& value) {
  std::vector<std::uint32_t> words(sizeof value / sizeof(std::uint32_t));
  std::memcpy(words.data(), &value, sizeof value);
  return words;
}

}  // namespace

void add_workers(gpu::Application& application, gpu::Launch launch, const WorkerStep& step) {
  LaunchWords words;
  words.before = step.before;
  const auto queues = application.add("queues", words_of(words));
  const auto control = application.add("control", words_of(step.control));
  application.upload(queues);
  application.upload(control);
  PersistentGrid grid{launch.grid.x, launch.grid.y, launch.grid.z, step.chunk,
                      launch.grid.x * launch.grid.y * launch.grid.z};
  grid.before_total = step.before_total;
  grid.beside = step.beside;
  grid.workers = step.completes_itself ? step.workers : 0;
  auto value = std::get<gpu::Scalar>(gpu::scalar(grid));
  value.addresses = {{offsetof(PersistentGrid, queue), queues, offsetof(LaunchWords, queue)},
                     {offsetof(PersistentGrid, before), queues, offsetof(LaunchWords, before)},
                     {offsetof(PersistentGrid, complete), queues, offsetof(LaunchWords, complete)}};
  launch.arguments.push_back(gpu::buffer(control));
  launch.arguments.push_back(value);
  launch.grid = {step.workers};
  application.launch(launch);
}

}  // namespace wm::rewrite
