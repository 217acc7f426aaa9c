# The Python of the package in the build tree: the first with NumPy, pybind11 and Python.h of
#   GDR_PYTHON_EXECUTABLE, python3 in PATH (that of an active virtual environment), /usr/bin/python3
#   (that of Debian's packages)
set(GDR_PYTHON_EXECUTABLE "" CACHE FILEPATH "Python to build the package for; empty: search for one")

function(gdr_find_python found)
  find_program(python_in_path python3 NO_CACHE)
  set(missing_from "")
  foreach(python IN ITEMS "${GDR_PYTHON_EXECUTABLE}" "${python_in_path}" /usr/bin/python3)
    if(NOT python OR NOT EXISTS "${python}")
      continue()
    endif()
    execute_process(COMMAND ${python} -c "import sys, sysconfig, os, numpy, pybind11
if not os.path.exists(os.path.join(sysconfig.get_paths()['include'], 'Python.h')): sys.exit('no Python.h')
print(sys.executable, pybind11.get_cmake_dir(), sep=';')"
                    RESULT_VARIABLE status OUTPUT_VARIABLE answer ERROR_VARIABLE error
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(status EQUAL 0)
      set(${found} ${answer} PARENT_SCOPE)
      return()
    endif()
    string(REGEX REPLACE ".*\n([^\n]+)\n?$" "\\1" error "${error}")
    string(APPEND missing_from "; ${python}: ${error}")
  endforeach()
  set(${found} "" PARENT_SCOPE)
  message(STATUS "No Python for the package: it is not built${missing_from} (install python3-dev, "
                 "python3-pybind11 and python3-numpy)")
endfunction()
