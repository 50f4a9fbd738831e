#include "runtime/schedule/filed_policy.h"

#include <fstream>
#include <utility>

namespace wm::runtime {

FiledPolicy::FiledPolicy(std::unique_ptr<policy::Policy> inner, const policy::Choice& choice, std::string file)
    : inner_(std::move(inner)), declared_(choice.needs() | choice.entry->info.uses), file_(std::move(file)) {}

void FiledPolicy::write() {
  if (!record_) return;
  std::ofstream(file_, std::ios::app) << record_->everything();
  record_->forget();
}

std::unique_ptr<policy::Policy> with_decisions_in(const std::string& file, std::unique_ptr<policy::Policy> policy,
                                                  const policy::Choice& choice) {
  if (file.empty()) return policy;
  return std::make_unique<FiledPolicy>(std::move(policy), choice, file);
}

}  // namespace wm::runtime
