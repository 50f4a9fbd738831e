// Which code made a result: digests of the sources, taken by the build (cmake/CodeVersion.cmake).
//
// A result is worth keeping while the code that made it is unchanged. So that a line changed in one policy does not
// make the results of all others old, the machine and each policy have versions of their own.
#pragma once

#include <string>
#include <string_view>

namespace wm::lab {

// Everything a simulation runs on but the policies: base, gpu, ptx, exec, sim and the policies' contract.
std::string_view machine_version();

// The machine with this policy: "4f0c…-91ab…". A policy that was built in from elsewhere has the machine's alone.
std::string code_version(std::string_view policy);

}  // namespace wm::lab
