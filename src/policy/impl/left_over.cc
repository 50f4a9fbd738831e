// Left-over: the behaviour of current hardware. The oldest kernel takes every resource it can; the next one starts
// where some is left. Warped-Slicer (ISCA 2016) section III, figure 2b.
#include "policy/policy.h"

namespace wm::policy {
namespace {

// Shared SMs, no caps and blocks in order of arrival are the behaviour of a machine without any action of a policy.
class LeftOver final : public Policy {};

}  // namespace

WM_POLICY(LeftOver, {.name = "left_over",
                     .about = "the oldest kernel takes all it can, the next what is left",
                     .paper = "Xu et al. (Warped-Slicer), ISCA 2016, section III",
                     .waits = Waits::for_earlier})

}  // namespace wm::policy
