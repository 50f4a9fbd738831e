// A table of kernel launches, one line a case, from which applications are made: the validation corpus.
//
//   NAME FILE GRID BLOCK SHARED ARGUMENT…
//
// The part of NAME before its first dot is the kernel's entry, FILE the name of its PTX without the ending. GRID and
// BLOCK are X, X,Y or X,Y,Z; SHARED is the bytes of dynamic shared memory. An argument is a scalar TYPE:VALUE or a
// buffer TYPE*COUNT=CONTENT with CONTENT zero (the default), fill(V), iota(FROM,STEP), random, or random(LOW,HIGH).
// COUNT may end in K or M (1024, 1024 * 1024). Lines that begin with # are comments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/application.h"

namespace wm::gpu {

struct LaunchCase {
  std::string name;
  std::string entry;
  std::string file;
  Dim3 grid;
  Dim3 block;
  std::size_t dynamic_shared_bytes = 0;
  std::vector<std::string> arguments;  // as written
};

Result<std::vector<LaunchCase>> parse_cases(std::string_view text, const std::string& path);

// An application that uploads the case's buffers and launches its kernel `launches` times.
Result<Application> make_application(const LaunchCase& launch_case, std::uint32_t launches);

}  // namespace wm::gpu
