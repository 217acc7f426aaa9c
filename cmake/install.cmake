# Installation of the command, the shared libraries, headers, gdr.pc and the CMake package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(gdr_command PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS gdr EXPORT gdrTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS gdr_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/libgdr/include/ ${PROJECT_SOURCE_DIR}/emulator/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")
# Manual pages, and completion for bash, zsh and fish.
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
foreach(folder bash-completion/completions zsh/site-functions fish/vendor_completions.d)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/${folder}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
endforeach()
if(TARGET gdr_fortran)
  # A module file can be read by the compiler that wrote it only; others need the source.
  install(TARGETS gdr_fortran EXPORT gdrTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${CMAKE_BINARY_DIR}/libgdr/gdr.mod DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gdr)
  install(FILES ${PROJECT_BINARY_DIR}/libgdr/gdr.f90
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gdr)
endif()

# The MPI plugins: libgdr loads them from its own directory.
foreach(plugin gdr_mpi gdr_mpi_mpich gdr_mpi_ulfm)
  if(TARGET ${plugin})
    set_target_properties(${plugin} PROPERTIES INSTALL_RPATH "$ORIGIN")
    install(TARGETS ${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()

# The original library's matrix product, under all the names that Makefiles link.
install(TARGETS gdrdgemm EXPORT gdrTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/libgdr/compat/dgemm/gdrdgemm.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_BINARY_DIR}/libgdr/compat/dgemm/libsing.so
              ${PROJECT_BINARY_DIR}/libgdr/compat/dgemm/libhib.so
        DESTINATION ${CMAKE_INSTALL_LIBDIR})

# The GRAPE-6, GRAPE-5 and NBODY6 interfaces, with the headers and names of libraries that clients use.
install(TARGETS g6 g5 gpunb EXPORT gdrTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(header g6lib grape6 gp6util gp5util g5util g5nbutil gpunb)
  install(FILES ${PROJECT_SOURCE_DIR}/libgdr/compat/grape/${header}.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
foreach(name sapporo pg5 g5a g75 phibdma)
  install(FILES ${PROJECT_BINARY_DIR}/libgdr/compat/grape/lib${name}.so
          DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()

# The BLAS, and the directory in which it is named libblas.so.3.
if(TARGET gdrblas)
  install(TARGETS gdrblas LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${PROJECT_BINARY_DIR}/libgdr/compat/blas/installed/libblas.so.3
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/gdr/blas)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gdr)
install(EXPORT gdrTargets NAMESPACE gdr:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gdrConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/gdrConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gdrConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gdrConfig.cmake ${PROJECT_BINARY_DIR}/gdrConfigVersion.cmake
        DESTINATION ${package_dir})

# gdr.pc computes its prefix from its own path, so that an installation may be moved.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/gdr.pc.in ${PROJECT_BINARY_DIR}/gdr.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gdr.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
function(gdr_grape_pc pc_name pc_library pc_description)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/grape.pc.in ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
gdr_grape_pc(g6lib g6 "GRAPE-6 library interface")
gdr_grape_pc(sapporo_light g6 "GRAPE-6 library interface")
gdr_grape_pc(g5lib g5 "GRAPE-5 library interface")
gdr_grape_pc(gpunb gpunb "interface of NBODY6 to accelerators")

# All installed targets, without tests: `make install` builds this one.
add_custom_target(gdr_installed)
foreach(part gdr gdr_command gdr_share gdr_kernel_headers_made gdr_fortran gdr_mpi gdr_mpi_mpich gdr_mpi_ulfm gdrdgemm gdrblas
             g6 g5 gpunb)
  if(TARGET ${part})
    add_dependencies(gdr_installed ${part})
  endif()
endforeach()
