// Where results go: people read stdout, programs the JSON that --json asks for ("-": stdout, and then nothing else).
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace wm::cli {

class Output {
 public:
  // `json` is what --json was given; empty: people only.
  explicit Output(std::string json) : json_(std::move(json)) {}

  // For people; dropped when stdout carries JSON.
  void say(std::string_view text) const;

  // {"schema":1, "items":[…]} to where --json asked, if it did.
  Result<void> items(const nlohmann::ordered_json& items) const;
  Result<void> document(const nlohmann::ordered_json& document) const;

 private:
  std::string json_;
};

}  // namespace wm::cli
