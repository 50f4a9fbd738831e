// The table of a store that holds confirmations. A store gets it with its first one.
#pragma once

#include <optional>
#include <vector>

#include "lab/store/confirmation.h"

struct sqlite3;

namespace wm::lab {

// Replaces a record of the same two versions. False: the database has the error.
bool put_confirmation(sqlite3* database, const Confirmation& confirmation);
// Nothing: the database has the error.
std::optional<std::vector<Confirmation>> confirmations_of(sqlite3* database);

}  // namespace wm::lab
