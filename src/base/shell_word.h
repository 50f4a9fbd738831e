// Words of command lines that are printed for a user to repeat.
#pragma once

#include <string>

namespace wm {

// The word as a shell reads it back: unchanged where nothing in it is special, else in quotes.
std::string shell_word(const std::string& word);

}  // namespace wm
