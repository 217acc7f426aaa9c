# What makes the build of a wheel short, on whose end somebody waits. None of it changes what is built.
#
#   gdr_share_headers(TARGET)   headers that most files include are read once for the target
#   gdr_seldom(FILES...)        of the folder at hand: work that is done once for a kernel, a message
#                               or a device, not once for a particle; lightly optimised
function(gdr_share_headers target)
  if(NOT SKBUILD)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/shared_headers.hpp)
  # For other instruction sets they would have to be read anew.
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
