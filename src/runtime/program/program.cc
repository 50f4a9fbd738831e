#include "runtime/program/program.h"

namespace wm::runtime {
namespace {

// No further launches are precompiled after this many, so that a client cannot fill the daemon's memory.
constexpr std::size_t kMaxPrecompiled = 64;

}  // namespace

std::optional<std::string> PrecompiledLaunches::find(const std::string& launch) const {
  const std::lock_guard lock(mutex_);
  if (const auto it = launches_.find(launch); it != launches_.end()) return it->second;
  return launches_.size() < kMaxPrecompiled ? std::nullopt : std::optional(std::string());
}

void PrecompiledLaunches::add(const std::string& launch, std::string refusal) {
  const std::lock_guard lock(mutex_);
  launches_.emplace(launch, std::move(refusal));
}

void PrecompiledLaunches::clear() {
  const std::lock_guard lock(mutex_);
  launches_.clear();
}

Program::State Program::state() const {
  const std::lock_guard lock(mutex_);
  return build_.state;
}

void Program::begin_build(std::string build_options) {
  options = std::move(build_options);
  form = {};
  precompiled.clear();
  const std::lock_guard lock(mutex_);
  build_.state = State::building;
  build_.object = nullptr;
}

void Program::end_build(bool succeeded, std::shared_ptr<const std::string> object) {
  const std::lock_guard lock(mutex_);
  build_.state = succeeded ? State::built : State::failed;
  build_.refusal.clear();
  build_.object = std::move(object);
}

void Program::refuse(std::string log) {
  const std::lock_guard lock(mutex_);
  build_.state = State::refused;
  build_.refusal = std::move(log);
}

std::string Program::refusal() const {
  const std::lock_guard lock(mutex_);
  return build_.refusal;
}

std::shared_ptr<const std::string> Program::object() const {
  const std::lock_guard lock(mutex_);
  return build_.object;
}

}  // namespace wm::runtime
