# Compiles the library and what the command shares as builds for users do, several files of a folder
# together (cmake/compile_time.cmake), without optimisation: names in a folder must not clash.
#
#   cmake -DSOURCE=DIR -DBINARY=DIR -P compile_together.cmake
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY} -G Ninja -DCMAKE_BUILD_TYPE=Debug
                        -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_CXX_FLAGS=-w -DGDR_SHARE_HEADERS=ON -DGDR_TESTS=OFF
                        -DGDR_BENCH=OFF -DGDR_PYTHON=OFF -DGDR_FORTRAN=OFF -DGDR_MPI=OFF -DGDR_NETWORK=OFF
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY} --target gdr gdr_cli -j 2 COMMAND_ERROR_IS_FATAL ANY)
