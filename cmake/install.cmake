# Installation of the command, the shared libraries, headers, pkg-config entries and the CMake package, in
# the components that binary packages are made from:
#
#   library      libgdr and its MPI plugins
#   command      the program gdr, its manual pages, completion for shells
#   compat       libraries under the names of earlier accelerators and of the BLAS
#   development  headers, link names, pkg-config entries, the CMake package, the Fortran module
include(CMakePackageConfigHelpers)
set(GDR_FORTRAN_MODULE_DIR ${CMAKE_INSTALL_INCLUDEDIR}/gdr CACHE STRING
    "Directory of the installed Fortran module, below the prefix")
mark_as_advanced(GDR_FORTRAN_MODULE_DIR)

# The parts of a target that programs need to run belong to `component`, its link name to `development`.
function(gdr_install_library target component)
  install(TARGETS ${target} ${ARGN} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}
                                    NAMELINK_COMPONENT development)
endfunction()

# Other names of a library are links, which a wheel cannot contain.
function(gdr_install_links folder)
  if(NOT SKBUILD)
    install(FILES ${ARGN} DESTINATION ${CMAKE_INSTALL_LIBDIR}${folder} COMPONENT compat)
  endif()
endfunction()

gdr_install_library(gdr library EXPORT gdrTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/libgdr/include/ ${PROJECT_SOURCE_DIR}/emulator/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
if(TARGET gdr_command)
  set_target_properties(gdr_command PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS gdr_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          COMPONENT development FILES_MATCHING PATTERN "*.hpp")
  # Manual pages, and completion for bash, zsh and fish.
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT command)
  foreach(folder bash-completion/completions zsh/site-functions fish/vendor_completions.d)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/share/${folder}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder}
            COMPONENT command)
  endforeach()
endif()
if(TARGET gdr_fortran)
  target_include_directories(gdr_fortran INTERFACE $<INSTALL_INTERFACE:${GDR_FORTRAN_MODULE_DIR}>)
  # A module file can be read by the compiler that wrote it only; others need the source.
  install(TARGETS gdr_fortran EXPORT gdrFortranTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
                                                        COMPONENT development)
  install(FILES ${CMAKE_BINARY_DIR}/libgdr/gdr.mod DESTINATION ${GDR_FORTRAN_MODULE_DIR}
          COMPONENT development)
  install(FILES ${PROJECT_BINARY_DIR}/libgdr/gdr.f90
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gdr COMPONENT development)
endif()

# The plugins: libgdr loads them from its own directory.
set(gdr_plugins gdr_network gdr_mpi gdr_mpi_mpich)
if(NOT SKBUILD)
  # A wheel has no plugin for an MPI that cmake/ulfm.sh has built.
  list(APPEND gdr_plugins gdr_mpi_ulfm)
endif()
foreach(plugin IN LISTS gdr_plugins)
  if(TARGET ${plugin})
    set_target_properties(${plugin} PROPERTIES INSTALL_RPATH "$ORIGIN")
    install(TARGETS ${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
  endif()
endforeach()

# The original library's matrix product, under all the names that Makefiles link.
if(TARGET gdrdgemm)
  gdr_install_library(gdrdgemm compat EXPORT gdrCompatTargets)
  install(TARGETS gdrdgemm_archive ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(FILES ${PROJECT_SOURCE_DIR}/libgdr/compat/dgemm/gdrdgemm.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
  gdr_install_links("" ${PROJECT_BINARY_DIR}/libgdr/compat/dgemm/libsing.so
                       ${PROJECT_BINARY_DIR}/libgdr/compat/dgemm/libhib.so)
endif()

# The GRAPE-6, GRAPE-5 and NBODY6 interfaces, with the headers and names of libraries that clients use.
if(TARGET g6)
  foreach(library g6 g5 gpunb gpunb_nbody6 gpunb_nbody6pp)
    gdr_install_library(${library} compat EXPORT gdrCompatTargets)
    install(TARGETS ${library}_archive ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  endforeach()
  foreach(header g6lib grape6 gp6util sapporo sapporohostclass gp5util g5util g5nbutil gpunb gpunb_nbody6pp)
    install(FILES ${PROJECT_SOURCE_DIR}/libgdr/compat/grape/${header}.h
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
  endforeach()
  foreach(name sapporo pg5 g5a g75 phibdma)
    gdr_install_links("" ${PROJECT_BINARY_DIR}/libgdr/compat/grape/lib${name}.so)
    install(FILES ${PROJECT_BINARY_DIR}/libgdr/compat/grape/lib${name}.a DESTINATION ${CMAKE_INSTALL_LIBDIR}
            COMPONENT development)
  endforeach()
endif()

# The BLAS, and the directory in which it is named libblas.so.3.
if(TARGET gdrblas)
  gdr_install_library(gdrblas compat)
  gdr_install_links(/gdr/blas ${PROJECT_BINARY_DIR}/libgdr/compat/blas/installed/libblas.so.3)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gdr)
install(EXPORT gdrTargets NAMESPACE gdr:: DESTINATION ${package_dir} COMPONENT development)
# Files of their own: distributions have these parts in other packages.
if(TARGET gdrdgemm)
  install(EXPORT gdrCompatTargets NAMESPACE gdr:: DESTINATION ${package_dir} COMPONENT compat)
endif()
if(TARGET gdr_fortran)
  install(EXPORT gdrFortranTargets NAMESPACE gdr:: DESTINATION ${package_dir} COMPONENT development)
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gdrConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/gdrConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gdrConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gdrConfig.cmake ${PROJECT_BINARY_DIR}/gdrConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT development)

# Entries for pkg-config compute the prefix from their own path, so that an installation may be moved.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# gdr_pc(NAME DESCRIPTION [LIBS FLAGS] [CFLAGS FLAGS] [REQUIRES ENTRIES] [PRIVATE FLAGS]): writes and installs NAME.pc.
# PRIVATE: what a static archive needs.
function(gdr_pc pc_name pc_description)
  cmake_parse_arguments(PARSE_ARGV 2 pc "" "LIBS;CFLAGS;REQUIRES;PRIVATE" "")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/entry.pc.in ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT development)
endfunction()
gdr_pc(gdr "${PROJECT_DESCRIPTION}, for C++20 and C99"
       LIBS "-L\${libdir} -lgdr" CFLAGS "-I\${includedir}")
gdr_pc(gdr-eigen "products and linear systems of Eigen's matrices on devices of gdr" REQUIRES "gdr eigen3")
if(TARGET gdr_fortran)
  gdr_pc(gdr-fortran "Fortran module of gdr" REQUIRES "gdr"
         LIBS "-L\${libdir} -lgdr_fortran" CFLAGS "-I\${prefix}/${GDR_FORTRAN_MODULE_DIR}")
endif()
if(TARGET g6)
  foreach(entry "g6lib:g6:GRAPE-6 library interface" "sapporo_light:g6:GRAPE-6 library interface"
                "g5lib:g5:GRAPE-5 library interface" "gpunb:gpunb:interface of NBODY6 to accelerators"
                "gpunb_nbody6:gpunb_nbody6:interface of NBODY6 since 2013 to accelerators"
                "gpunb_nbody6pp:gpunb_nbody6pp:interface of NBODY6++GPU to accelerators")
    string(REPLACE ":" ";" entry ${entry})
    list(GET entry 0 name)
    list(GET entry 1 library)
    list(GET entry 2 description)
    gdr_pc(${name} ${description} LIBS "-L\${libdir} -l${library}" CFLAGS "-I\${includedir}"
           PRIVATE "-lgdr -lgomp -lstdc++ -lm")
  endforeach()
endif()

# All installed targets, without tests: `make install` builds this one.
add_custom_target(gdr_installed)
foreach(part gdr gdr_command gdr_share gdr_kernel_headers_made gdr_fortran gdrdgemm gdrblas g6 g5 gpunb
             gpunb_nbody6 gpunb_nbody6pp g6_archive g5_archive gpunb_archive gpunb_nbody6_archive
             gpunb_nbody6pp_archive gdrdgemm_archive ${gdr_plugins})
  if(TARGET ${part})
    add_dependencies(gdr_installed ${part})
  endif()
endforeach()
