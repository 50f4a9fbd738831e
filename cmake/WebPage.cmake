# The HTML page of results: npm bundles web/ into one file, which is embedded in the lab library. Without npm, or without
# its packages, the build succeeds and only the commands that write a page fail.
find_program(WM_NPM npm)
set(page ${PROJECT_BINARY_DIR}/web)
file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
list(APPEND page_sources ${PROJECT_SOURCE_DIR}/web/package.json ${PROJECT_SOURCE_DIR}/web/package-lock.json
     ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/cmake/BuildWebPage.cmake)
# A failed bundle leaves no stamp, so the next build tries again.
add_custom_command(OUTPUT ${page}/page.cc ${page}/stamp
                   COMMAND ${CMAKE_COMMAND} -DNPM=${WM_NPM} -DSOURCE=${PROJECT_SOURCE_DIR}/web -DOUT=${page}
                           -P ${PROJECT_SOURCE_DIR}/cmake/BuildWebPage.cmake
                   DEPENDS ${page_sources} COMMENT "Bundling the web page" VERBATIM)
add_custom_target(page DEPENDS ${page}/page.cc)
target_sources(wm_lab PRIVATE ${page}/page.cc)
add_dependencies(wm_lab page)
# The embedded page exceeds the string length that the standard guarantees.
set_source_files_properties(${page}/page.cc PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
