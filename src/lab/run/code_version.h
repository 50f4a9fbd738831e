// The version of the code that made a result: digests of the sources, computed by the build (cmake/CodeVersion.cmake).
//
// A result is valid while the code that made it is unchanged. The machine and each policy have versions of their own,
// so that a change of one policy does not invalidate the results of the others.
#pragma once

#include <string>
#include <string_view>

namespace wm::lab {

// The version of everything except the policies: base, gpu, ptx, exec, sim and the policies' contract. That of the
// "block" machine covers its own code, applications and systems.
std::string_view machine_version(std::string_view machine = "cycle");

// The version of the machine with this policy: "4f0c…-91ab…". A policy from another folder has the machine's version.
std::string code_version(std::string_view policy, std::string_view machine = "cycle");

}  // namespace wm::lab
