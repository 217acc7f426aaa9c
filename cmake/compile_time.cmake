# Functions that shorten builds. They do not change what is built.
#
#   gdr_share_headers(TARGET [HEADER...])  precompiles the headers that most files of the target include:
#                                          those of shared_headers.hpp and the given ones
#   gdr_optimize_lightly(FILES...)         compiles files of the current directory with -O1: work that is done
#                                          once for a program, a message or a device, not once for a particle
option(GDR_SHARE_HEADERS "Precompile common headers; without, every file must include what it uses" ON)

# ccache accepts precompiled headers only if it may trust them and the times in macros.
if(CCACHE AND GDR_SHARE_HEADERS)
  foreach(language C CXX)
    set(CMAKE_${language}_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  endforeach()
endif()

function(gdr_share_headers target)
  if(NOT GDR_SHARE_HEADERS)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/shared_headers.hpp ${ARGN})
  # Files for other instruction sets cannot use them.
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_property(options SOURCE ${source} PROPERTY COMPILE_OPTIONS)
    if(options MATCHES "-m")
      set_property(SOURCE ${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

function(gdr_optimize_lightly)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
endfunction()
