// Descriptions of the policies: the text of `wm policies [NAME]` and the tables of the documentation.
#pragma once

#include <string>

#include "policy/policy.h"

namespace wm::policy {

// One line per policy: its name and description.
std::string list_text();

// One policy: its description, paper and needs, and its parameters with default, range and paper section.
std::string details_text(const Info& info);

// The parameters as a Markdown table; empty when there are none.
std::string parameters_markdown(const Info& info);

// The page of all policies, docs/reference/policies.md.
std::string policies_markdown();

// "blocks in the way", in a sentence that begins "A kernel that arrives waits at most for".
std::string_view waits_text(Waits waits);

}  // namespace wm::policy
