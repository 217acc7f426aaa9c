# Cross build for Linux on arm64 with Debian's compiler (g++-aarch64-linux-gnu) and the packages that sysroot.sh
# extracts; programs of the build run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

if(NOT GDR_ARM64_SYSROOT)
  set(GDR_ARM64_SYSROOT $ENV{GDR_ARM64_SYSROOT})
endif()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GDR_ARM64_SYSROOT)
set(CMAKE_SYSROOT ${GDR_ARM64_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${GDR_ARM64_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${GDR_ARM64_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${GDR_ARM64_SYSROOT}/usr/share/pkgconfig)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static;-L;${GDR_ARM64_SYSROOT})
# The host's h5cc names the host's files.
set(HDF5_C_COMPILER_EXECUTABLE OFF CACHE INTERNAL "")
