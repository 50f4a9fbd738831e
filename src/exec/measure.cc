#include "exec/measure.h"

namespace wm::exec {

Result<Measured> measure_application(const ptx::Module& module, const gpu::Application& application, int repetitions) {
  Measured best;
  for (int i = 0; i < repetitions; ++i) {
    auto ran = run_application(module, application);
    if (!ran) return ran.error();
    Measured now;
    for (const LaunchRecord& launch : ran->launches) {
      now.statistics += launch.statistics;
      now.seconds += launch.seconds;
    }
    if (i == 0 || now.seconds < best.seconds) best = now;
  }
  return best;
}

}  // namespace wm::exec
