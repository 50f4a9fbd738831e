// Records that rows of older code count as rows of newer code: a sample of them was run again with the newer code and
// had the same run hashes and results (lab/experiment/confirm.h makes the records).
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace wm::lab {

struct Confirmation {
  std::string from;       // code version of the rows
  std::string to;         // code version that ran the sample again
  std::size_t cells = 0;  // cells of the sample
  std::size_t of = 0;     // cells that the sample was taken from
  std::string date;       // 2026-01-31

  friend auto operator<=>(const Confirmation&, const Confirmation&) = default;
};

nlohmann::ordered_json json_from(const Confirmation& confirmation);
// An error names the key with the bad value, without a file.
Result<Confirmation> confirmation_from_json(const nlohmann::ordered_json& json);
// The value of "confirmed" in a file of results.
Result<std::vector<Confirmation>> confirmations_from_json(const nlohmann::ordered_json& json);

// The records of a store as a whole, in which one record continues another: a to b, b to c.
class Confirmations {
 public:
  Confirmations() = default;
  explicit Confirmations(std::vector<Confirmation> records) : records_(std::move(records)) {}

  [[nodiscard]] const std::vector<Confirmation>& records() const { return records_; }
  // The shortest sequence of records that leads from one version to another; empty where there is none.
  [[nodiscard]] std::vector<Confirmation> path(const std::string& from, const std::string& to) const;
  // Whether rows of version `from` count as rows of version `to`.
  [[nodiscard]] bool covers(const std::string& from, const std::string& to) const {
    return from == to || !path(from, to).empty();
  }

 private:
  std::vector<Confirmation> records_;
};

}  // namespace wm::lab
