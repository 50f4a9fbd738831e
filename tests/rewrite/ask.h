// Short questions to the worker, for tests that look at its answers.
#pragma once

#include <gtest/gtest.h>
#include <string>

#include "rewrite/worker_here.h"

namespace wm::rewrite {

inline Reply ask(const Request& request) {
  auto reply = worker_here().rewrite(request);
  if (reply) return *reply;
  ADD_FAILURE() << reply.error().to_string();
  return {};
}
inline Reply ask(const std::string& source, const std::string& options = "") {
  return ask(Request{.source = source, .options = options});
}

inline const KernelReply& kernel_of(const Reply& reply, const std::string& name = "k") {
  static const KernelReply none;
  for (const KernelReply& kernel : reply.kernels) {
    if (kernel.name == name) return kernel;
  }
  ADD_FAILURE() << "no kernel '" << name << "' in the reply: " << reply.refusal;
  return none;
}

// Why `k` was not rewritten; "" when it was.
inline std::string reason(const std::string& source, const std::string& options = "") {
  const Reply reply = ask(source, options);
  if (!reply.refusal.empty()) return "program: " + reply.refusal;
  const KernelReply& kernel = kernel_of(reply);
  EXPECT_EQ(kernel.rewritten, kernel.reason.empty());
  return kernel.reason;
}

}  // namespace wm::rewrite
