# Bundles the page of ${SOURCE} into ${OUT} and writes ${OUT}/page.cc: the HTML text, or the reason why it is missing.
file(MAKE_DIRECTORY ${OUT})
file(REMOVE ${OUT}/stamp)
set(html "")
set(reason "")

function(try step)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${OUT} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output
                  TIMEOUT 180)
  if(NOT status EQUAL 0)
    string(REGEX MATCH "[^\n]*(rror|ERR)[^\n]*" line "${output}")
    string(REGEX REPLACE "[\"\\\\]" "'" line "${line}")
    set(reason "${step} failed (${status}) ${line}" PARENT_SCOPE)
  endif()
endfunction()

if(NOT NPM)
  set(reason "npm was not found")
else()
  file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json ${SOURCE}/build.mjs ${SOURCE}/src DESTINATION ${OUT})
  file(SHA256 ${SOURCE}/package-lock.json required)
  set(installed "")
  if(EXISTS ${OUT}/node_modules/.wm)
    file(READ ${OUT}/node_modules/.wm installed)
  endif()
  if(NOT installed STREQUAL required)
    try("npm ci" ${NPM} ci --no-audit --no-fund --no-progress --prefer-offline --fetch-retries=1 --fetch-timeout=30000)
    if(NOT reason)
      file(WRITE ${OUT}/node_modules/.wm ${required})
    endif()
  endif()
  if(NOT reason)
    try("bundling the page" ${NPM} run --silent build)
  endif()
endif()

if(reason)
  message(WARNING "No HTML pages in this build: ${reason}. Everything else works; the next build tries again.")
else()
  file(READ ${OUT}/page.html html)
  file(TOUCH ${OUT}/stamp)
endif()
file(WRITE ${OUT}/page.cc "// Generated from web/; do not edit.
#include \"lab/report/page_template.h\"

namespace wm::lab {

std::string_view page_template() {
  static const char html[] = R\"WM_TEXT(${html})WM_TEXT\";
  return {html, sizeof(html) - 1};
}

std::string_view why_no_page() { return \"${reason}\"; }

}  // namespace wm::lab
")
