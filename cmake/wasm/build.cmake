# The build for WebAssembly with emscripten (preset "wasm"): emulator without board and native engines, kernel compiler,
# and the playground of the site. One thread, no files, no machine code.
include(cmake/compile_time.cmake)
set(GDR_EXACT_ONLY ON)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

# Headers of packages without code of their own, in a folder without the other headers of this host.
set(packages ${PROJECT_BINARY_DIR}/packages)
file(MAKE_DIRECTORY ${packages})
foreach(header fmt/core.h nlohmann/json.hpp)
  string(MAKE_C_IDENTIFIER ${header} name)
  find_path(GDR_${name} ${header} PATHS /usr/include /usr/local/include REQUIRED NO_CMAKE_FIND_ROOT_PATH)
  get_filename_component(folder ${header} DIRECTORY)
  file(CREATE_LINK ${GDR_${name}}/${folder} ${packages}/${folder} SYMBOLIC)
endforeach()
include_directories(SYSTEM ${PROJECT_SOURCE_DIR}/cmake/wasm/library ${packages})
foreach(package OpenMP::OpenMP_CXX fmt::fmt)
  add_library(${package} INTERFACE IMPORTED GLOBAL)
endforeach()

add_compile_definitions(FMT_HEADER_ONLY)
# Sizes have 32 bits there: sizes in messages between parts, which have 64, are converted implicitly.
add_compile_options(-fwasm-exceptions $<$<COMPILE_LANGUAGE:CXX>:-Wno-c++11-narrowing>
                    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${PROJECT_SOURCE_DIR}/cmake/wasm/library/standard.hpp>")
add_link_options(-fwasm-exceptions)
target_compile_options(gdr_warnings INTERFACE -Wno-shorten-64-to-32 -Wno-unknown-pragmas -Wno-shadow -Wno-unused-command-line-argument
                       -Wno-unused-lambda-capture -Wno-unused-variable)

set(GDR_COMMAND ON)  # with the generators of random programs
add_subdirectory(emulator)
add_subdirectory(kernels)
add_subdirectory(docs/site/playground)
