# Compiles the library and what the command shares as builds for users do, several files of a folder
# together (cmake/compile_time.cmake), without optimisation: names in a folder must not clash.
#
#   cmake -DSOURCE=DIR -DBINARY=DIR -DNETWORK=BOOL -P compile_together.cmake
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY} -G Ninja -DCMAKE_BUILD_TYPE=Debug
                        -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_CXX_FLAGS=-w -DGDR_SHARE_HEADERS=ON -DGDR_TESTS=OFF
                        -DGDR_BENCH=OFF -DGDR_PYTHON=OFF -DGDR_FORTRAN=OFF -DGDR_MPI=OFF -DGDR_NETWORK=${NETWORK}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
set(targets gdr gdr_cli)
if(NETWORK)
  list(APPEND targets gdr_network)
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY} --target ${targets} -j 2 COMMAND_ERROR_IS_FATAL ANY)
