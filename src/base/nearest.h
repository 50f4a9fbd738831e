// The name a user probably meant, for "did you mean" in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace wm {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The closest candidate, the first of equals; empty when none is close enough to be a typing mistake.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

// " (did you mean 'threads'?)", or nothing: ready to end a message with.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace wm
