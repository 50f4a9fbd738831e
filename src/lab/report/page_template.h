// The bundled page (web/), put into the program by the build.
#pragma once

#include <string_view>

namespace wm::lab {

// HTML with /*DOCUMENT*/ where the document goes; empty where the build could not make it.
std::string_view page_template();
// The reason why the template is empty.
std::string_view why_no_page();

}  // namespace wm::lab
