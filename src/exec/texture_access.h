// Textures and surfaces as the lanes of a warp access them: handles, shapes, places.
#pragma once

#include <optional>
#include <string>

#include "exec/address_space.h"
#include "exec/fault.h"
#include "exec/lanes.h"
#include "exec/program.h"
#include "exec/warp.h"

namespace wm::exec {

// Why an access is refused, and the lane that made it.
struct TextureFault {
  Fault::Kind kind = Fault::Kind::out_of_bounds;
  int lane = 0;
  std::string what;
};

// tex and tld4: fetches for the active lanes. `access` gets the address of one texel per lane.
std::optional<TextureFault> fetch_texels(const Op& op, const Frame& frame, const AddressSpace& memory, Access& access);
// txq and suq.
std::optional<TextureFault> query_texture(const Op& op, const Frame& frame, const AddressSpace& memory);
// suld, sust and sured: the addresses in global memory; `inside` gets the lanes that access it.
std::optional<TextureFault> place_on_surface(const Op& op, const Frame& frame, const AddressSpace& memory,
                                             Access& access, Mask& inside);

}  // namespace wm::exec
