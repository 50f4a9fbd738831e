// The output of a command: text for people on stdout, JSON for programs where --json names a file ("-": stdout, without
// text).
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace wm::cli {

class Output {
 public:
  // `json` is the value of --json; empty: no JSON is written.
  explicit Output(std::string json) : json_(std::move(json)) {}

  // Prints text for people, unless stdout carries the JSON.
  void say(std::string_view text) const;

  // Writes {"schema":1, "items":[…]} where --json was given.
  Result<void> items(const nlohmann::ordered_json& items) const;
  Result<void> document(const nlohmann::ordered_json& document) const;

 private:
  std::string json_;
};

}  // namespace wm::cli
