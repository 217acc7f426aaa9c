# Functions that shorten the build of a wheel, and have no effect on other builds.
#
#   gdr_share_headers(TARGET)   precompiles the headers that most files of the target include
#   gdr_seldom(FILES...)        compiles files of the current directory with -O1: code that runs once
#                               for a kernel, a message or a device, not once for a particle
function(gdr_share_headers target)
  if(NOT SKBUILD)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/shared_headers.hpp)
  # A precompiled header is valid for one instruction set.
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_property(options SOURCE ${source} PROPERTY COMPILE_OPTIONS)
    if(options MATCHES "-m")
      set_property(SOURCE ${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

function(gdr_seldom)
  if(SKBUILD)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -O1)
  endif()
endfunction()
