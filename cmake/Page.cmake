# The page that results are shown in: web/ bundled by npm into one HTML file that travels inside the lab. Where npm is
# missing, or cannot fetch its packages, everything is built all the same and only writing a page is an error.
find_program(WM_NPM npm)
set(page ${PROJECT_BINARY_DIR}/web)
file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
list(APPEND page_sources ${PROJECT_SOURCE_DIR}/web/package.json ${PROJECT_SOURCE_DIR}/web/package-lock.json
     ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/cmake/BuildPage.cmake)
# A bundle that could not be made leaves no stamp, so that the next build tries again.
add_custom_command(OUTPUT ${page}/page.cc ${page}/stamp
                   COMMAND ${CMAKE_COMMAND} -DNPM=${WM_NPM} -DSOURCE=${PROJECT_SOURCE_DIR}/web -DOUT=${page}
                           -P ${PROJECT_SOURCE_DIR}/cmake/BuildPage.cmake
                   DEPENDS ${page_sources} COMMENT "Bundling the page" VERBATIM)
add_custom_target(page DEPENDS ${page}/page.cc)
target_sources(wm_lab PRIVATE ${page}/page.cc)
add_dependencies(wm_lab page)
# The embedded page is longer than the string literals the standard promises.
set_source_files_properties(${page}/page.cc PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
