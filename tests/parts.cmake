# Parts of long suites, and long random tests: two tables, and the functions that register them.

# Every entry of CTest takes at most 40 s alone on two cores. Rows "SUITE PART FILE...": the entry SUITE_PART runs the cases
# of these files, given without their endings; the entry SUITE runs those of all others.
set(parts_of_suites
    "board gpu device_matmul_test"
    "board matmul matmul_test"
    "cli cuda cuda_test"
    "cli info info_test host_limits_test"
    "cli predict predict_test"
    "compiler derivatives adjoint_random_test adjoint_test derivative_test"
    "compiler functions math_functions_test"
    "compiler kernels codegen_kernels_test codegen_conditions_test"
    "compiler lists codegen_lists_test"
    "compiler random codegen_random_test padding_test"
    "driver boards boards_test defects_test device_nodes_test timeouts_test"
    "driver faults faults_test"
    "driver network network_test"
    "engine floats float_functions_test"
    "engine fused fused_run_test"
    "engine random native_formulas_test native_random_test native_tables_test"
    "kernels gpu gpu_exact_test gpu_failure_test gpu_few_targets_test gpu_streams_test gpu_test"
    "library coincident coincident_test"
    "library laws ewald_test sph_test"
    "library neighbours neighbour_images_test neighbours_test pairs_test periodic_images_test"
    "library matrices batch_test gpu_matrix_test lu_test matrix_float_test matrix_resident_test matrix_test solves_test"
    "mpi calls calls_test errors_test sets_test"
    "mpi failures rank_failure_test"
    "mpi numbers chemistry_test dense_test"
    "mpi sums many_particles_test periodic_and_tree_sums_test source_pipeline_test"
    "python arrays test_api_table test_arguments test_array_kinds test_copies test_docstring_examples test_estimate test_names test_progress"
    "python derivatives test_adjoint_reductions test_course test_derivatives test_gradients_page test_reductions"
    "python files test_nbody test_block_steps test_plots test_snapshots test_snapshot_layouts"
    "python frameworks test_ase test_rebound test_frameworks_page"
    "python mpi test_mpi test_mpi_libraries test_mpi_sums test_device"
    "python notebooks test_notebooks"
    "python simulations test_simulation_notebooks"
    "python trees test_gravity test_kernel_tree test_softening test_tree"
    "python types test_types test_guide")

# What `make test-long` runs. Rows "NAME SUITE ITERATIONS CASES": the cases are Catch2's patterns of their titles, where
# a * may stand at the beginning and the end only.
set(long_tests
    "numeric numeric 200000000 [oracle]"
    "fp fp 20000000 gdr fp agrees*"
    "chains engine 100000 chains of operations*"
    "sums engine 20000 consecutive sums*,sums of doubles near*,products of doubles near*"
    "fused engine 20000 fused runs*,results-only*"
    "formulas engine 600 *of either sign*"
    "tables engine 300 random kernels with tables*"
    "native engine 3000 *on the native engine,native computes random*"
    "jit engine 3000 random code*,random loops*,pipelined loops*"
    "adjoints compiler 500 adjoints of random kernels*"
    "kernels compiler 200 random kernels*,random conditions*"
    "functions compiler 10000 functions agree with*,functions of two*,sets of Boys*,powers keep*"
    "products board 10 a matrix product has*,a matrix product of*,a matrix product on a GPU has*"
    "lists grape 300 g6: lists are right*"
    "debugger debug 3000 random programs*"
    "faults driver 300 random faults*,connections that are cut*"
    "clients driver 300 malformed messages*,random descriptors*"
    "ranks mpi 40 runs continue*")

# gdr_parts_of(SUITE): sets `parts`, the names of its parts, and files_PART, the files of each.
function(gdr_parts_of suite)
  set(names "")
  foreach(row IN LISTS parts_of_suites)
    string(REPLACE " " ";" files "${row}")
    list(POP_FRONT files of part)
    if(of STREQUAL suite)
      list(APPEND names ${part})
      set(files_${part} ${files} PARENT_SCOPE)
    endif()
  endforeach()
  set(parts ${names} PARENT_SCOPE)
endfunction()

# gdr_add_suite(SUITE): the entries of the program test_SUITE; their names are in tests_of_SUITE.
function(gdr_add_suite suite)
  gdr_parts_of(${suite})
  set(tests ${suite})
  set(others "")
  foreach(part IN LISTS parts)
    foreach(file IN LISTS files_${part})
      if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${suite}/${file}.cpp)
        message(FATAL_ERROR "parts.cmake: ${suite} has no file ${file}.cpp")
      endif()
    endforeach()
    list(TRANSFORM files_${part} REPLACE "(.+)" "[#\\1]" OUTPUT_VARIABLE tags)
    list(JOIN tags "," any)
    list(JOIN tags "~" none)
    string(APPEND others "~${none}")
    add_test(NAME ${suite}_${part} COMMAND test_${suite} --filenames-as-tags "${any}")
    list(APPEND tests ${suite}_${part})
  endforeach()
  if(parts)
    add_test(NAME ${suite} COMMAND test_${suite} --filenames-as-tags "${others}")
  else()
    add_test(NAME ${suite} COMMAND test_${suite})
  endif()
  set(tests_of_${suite} ${tests} PARENT_SCOPE)
endfunction()

# gdr_add_pytest(SUITE PYTHON): the entries of the folder SUITE, whose files test_NAME.py pytest runs.
function(gdr_add_pytest suite python)
  gdr_parts_of(${suite})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${suite})
  set(run ${python} -m pytest -q -p no:cacheprovider)
  set(tests ${suite})
  set(others "")
  foreach(part IN LISTS parts)
    list(TRANSFORM files_${part} REPLACE "(.+)" "${folder}/\\1.py" OUTPUT_VARIABLE files)
    list(TRANSFORM files PREPEND "--ignore=" OUTPUT_VARIABLE ignored)
    add_test(NAME ${suite}_${part} COMMAND ${run} ${files})
    list(APPEND others ${ignored})
    list(APPEND tests ${suite}_${part})
  endforeach()
  add_test(NAME ${suite} COMMAND ${run} ${others} ${folder})
  set(tests_of_${suite} ${tests} PARENT_SCOPE)
endfunction()

# gdr_add_long_test(NAME COMMAND...): an entry long_NAME of the configuration Long.
function(gdr_add_long_test name)
  add_test(NAME long_${name} CONFIGURATIONS Long COMMAND ${ARGN})
  set_tests_properties(long_${name} PROPERTIES LABELS long TIMEOUT 7200)
endfunction()

function(gdr_add_long_tests)
  set(run_some "")
  if(Catch2_VERSION VERSION_LESS 3)
    set(run_some --warn NoTests)  # an error, as it always is in version 3
  endif()
  foreach(row IN LISTS long_tests)
    string(REGEX MATCH "^([^ ]+) ([^ ]+) ([^ ]+) (.+)$" row "${row}")
    set(name ${CMAKE_MATCH_1})
    set(suite ${CMAKE_MATCH_2})
    set(iterations ${CMAKE_MATCH_3})
    set(cases "${CMAKE_MATCH_4}")
    if(cases MATCHES "[^,]\\*[^,]")
      message(FATAL_ERROR "parts.cmake: a * within a pattern matches no title: ${cases}")
    endif()
    if(TARGET test_${suite})
      gdr_add_long_test(${name} test_${suite} ${run_some} "${cases}")
      set_tests_properties(long_${name} PROPERTIES ENVIRONMENT GDR_TEST_ITERATIONS=${iterations})
    endif()
  endforeach()
endfunction()
