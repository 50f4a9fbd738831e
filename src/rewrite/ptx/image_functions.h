// Functions in PTX that write an element of an image: the conversion to its format, and the store.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "ptx/ir.h"
#include "rewrite/ptx/image_record.h"

namespace wm::rewrite {

// Parameters: the surface or address (b64); store_format, width, rows and slices or layers of the image; the place x,
// y, z; four components (b32 each). Places outside of the image are not written.
inline constexpr int kWriteParameters = 12;
[[nodiscard]] std::string write_function_name(ImageShape shape);
[[nodiscard]] std::string write_function_text(ImageShape shape);
// Adds the functions for images of these shapes.
Result<ptx::Module> with_write_functions(ptx::Module module, const std::set<ImageShape>& shapes);

}  // namespace wm::rewrite
