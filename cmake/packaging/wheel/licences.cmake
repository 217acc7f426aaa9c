# Installs beside a wheel's metadata the licences of the libraries whose code it contains, as they demand of binaries.
# The texts are those that a source distribution carries (third_party/), else those of Debian's packages;
# manylinux.sh installs files of the same names. Pairs of a row of dependencies.toml and the package of Debian.
set(gdr_licences fmt:libfmt-dev xbyak:libxbyak-dev cli11:libcli11-dev nlohmann_json:nlohmann-json3-dev asio:libasio-dev
                 hdf5:libhdf5-dev zlib:zlib1g-dev openssl:libssl-dev pybind11:pybind11-dev)
foreach(pair IN LISTS gdr_licences)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 package)
  find_file(GDR_LICENCE_${name} copyright NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
            PATHS ${PROJECT_SOURCE_DIR}/third_party/${name} /usr/local/share/doc/${package} /usr/share/doc/${package})
  mark_as_advanced(GDR_LICENCE_${name})
  if(GDR_LICENCE_${name})
    install(FILES ${GDR_LICENCE_${name}} DESTINATION ${SKBUILD_METADATA_DIR}/licenses/third_party/${name}
            COMPONENT licences)
  elseif(GDR_REDISTRIBUTABLE)
    message(WARNING "The wheel is without the licence of ${name}; the package ${package} of Debian has it")
  endif()
endforeach()
