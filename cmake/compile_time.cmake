# Functions that shorten builds. They do not change what is built.
#
#   gdr_share_headers(TARGET [HEADER...])  precompiles the headers that most files of the target include:
#                                          those of shared_headers.hpp and the given ones; not where files are
#                                          compiled together, which gains more
#   gdr_compile_together(TARGET [AT_MOST N] [EXCEPT FILE...] [APART FOLDER...])
#                                          compiles up to N (GDR_FILES_TOGETHER) files in one go: names in unnamed
#                                          namespaces differ within a target; the given files stay on their own,
#                                          those of each given folder among themselves
#   gdr_cache_precompiled_headers()        lets ccache accept precompiled headers in this directory and below
#   gdr_optimize_lightly(FILES...)         compiles files of the current directory with -Og: work that is done
#                                          once for a program, a message or a device, not once for a particle.
#                                          With precompiled headers GCC takes the level that these have
option(GDR_COMPILE_TOGETHER "Compile several files of a target in one go; without, warnings are those of files on their own" ON)
option(GDR_SHARE_HEADERS "Compile common headers once for files that are compiled on their own; without, each must include what it uses" ON)
# 32 instead of 8 files save a quarter of the processor time, 50 the headers of some more units, two seconds each, and
# 100 a tenth of all. A unit of 90 files needs 1.8 GB of memory, and larger ones leave fewer parts for many cores.
cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
cmake_host_system_information(RESULT memory_mb QUERY TOTAL_PHYSICAL_MEMORY)
set(files_together 50)
if(processors LESS_EQUAL 4 AND memory_mb GREATER 7000)
  set(files_together 100)
endif()
set(GDR_FILES_TOGETHER ${files_together} CACHE STRING "Files that are compiled in one go, at most")
mark_as_advanced(GDR_FILES_TOGETHER)

# -O2 instead of -O3 saves nothing in most units (processor seconds on a Xeon, GCC 12: 41.2 instead of 41.1 for 79 files
# of emulator/, of which 10 are for parsing, 35.5 instead of 34.8 for 31 of libgdr/device and others; 17.9 instead of 21.2
# for the scheduler of kernels, whose speed counts).
# GCC collects its garbage from 1 GB on, not from 128 MB: 10 to 20 % less processor time for the same code (from
# 512 MB on: 8 to 15 %), and 300 MB more memory for a large file.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1048576>)
endif()

# ccache accepts precompiled headers only if it may trust them and the times in macros.
macro(gdr_cache_precompiled_headers)
  if(CCACHE)
    foreach(language C CXX)
      set(CMAKE_${language}_COMPILER_LAUNCHER
          ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
    endforeach()
  endif()
endmacro()
if(GDR_SHARE_HEADERS AND NOT GDR_COMPILE_TOGETHER)
  gdr_cache_precompiled_headers()
endif()

function(gdr_share_headers target)
  if(NOT GDR_SHARE_HEADERS OR GDR_COMPILE_TOGETHER)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/shared_headers.hpp ${ARGN})
  # Files for other instruction sets, or without optimisation, cannot use them.
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_property(options SOURCE ${source} PROPERTY COMPILE_OPTIONS)
    if(options MATCHES "(^|;)-m|-O0")
      set_property(SOURCE ${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

function(gdr_compile_together target)
  if(NOT GDR_COMPILE_TOGETHER)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 together "" "AT_MOST" "EXCEPT;APART")
  set(at_most ${GDR_FILES_TOGETHER})
  if(together_AT_MOST AND together_AT_MOST LESS at_most)
    set(at_most ${together_AT_MOST})
  endif()
  # CMake's property UNITY_BUILD leaves out files that have options, such as those of -O1.
  get_target_property(sources ${target} SOURCES)
  set(groups)
  foreach(source IN LISTS sources)
    get_property(definitions SOURCE ${source} PROPERTY COMPILE_DEFINITIONS)
    get_property(generated SOURCE ${source} PROPERTY GENERATED)
    get_property(options SOURCE ${source} PROPERTY COMPILE_OPTIONS)
    # Files for different instruction sets define the same names.
    if(generated OR definitions OR options MATCHES "(^|;)-m" OR source MATCHES "_avx|_neon" OR NOT source MATCHES "\\.cpp$")
      continue()
    endif()
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(name ${source} NAME)
    if(name IN_LIST together_EXCEPT)
      continue()
    endif()
    set(place "")
    foreach(folder IN LISTS together_APART)
      if(source MATCHES "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}/")
        set(place ${folder})
      endif()
    endforeach()
    string(MD5 group "${place} ${options}")
    list(APPEND groups ${group})
    list(APPEND files_${group} ${source})
    set(options_${group} ${options})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  set(number 0)
  foreach(group IN LISTS groups)
    # Units of the same size, so that cores finish together.
    list(LENGTH files_${group} count)
    math(EXPR units "(${count} + ${at_most} - 1) / ${at_most}")
    math(EXPR size "(${count} + ${units} - 1) / ${units}")
    while(files_${group})
      list(SUBLIST files_${group} 0 ${size} files)
      list(REMOVE_ITEM files_${group} ${files})
      set_source_files_properties(${files} PROPERTIES HEADER_FILE_ONLY ON)
      list(TRANSFORM files REPLACE "(.+)" "#include \"\\1\"\n")
      list(JOIN files "" text)
      set(together ${CMAKE_CURRENT_BINARY_DIR}/together/${target}_${number}.cpp)
      math(EXPR number "${number} + 1")
      file(CONFIGURE OUTPUT ${together} CONTENT "${text}" @ONLY)
      # The preset "developer" has these warnings, which are right for files on their own only.
      set_source_files_properties(${together} PROPERTIES COMPILE_OPTIONS
        "${options_${group}};-Wno-shadow;$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>")
      target_sources(${target} PRIVATE ${together})
    endwhile()
  endforeach()
endfunction()

# Emscripten has no -Og.
set(GDR_LIGHT_LEVEL $<IF:$<PLATFORM_ID:Emscripten>,-O1,-Og>)
function(gdr_optimize_lightly)
  # At this level GCC 12 wrongly takes members of the standard library's classes for uninitialised.
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS
               "$<$<CONFIG:Release>:${GDR_LIGHT_LEVEL}>;$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>")
endfunction()
