# Fails if a library exports a symbol that does not match, or fewer than the least number of symbols.
#
#   cmake -DNM=nm -DLIBRARY=FILE -DPATTERN=REGEX -DLEAST=N -P symbols.cmake
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+\n" names "${text}")
list(TRANSFORM names STRIP)
set(found 0)
foreach(name IN LISTS names)
  if(name MATCHES "${PATTERN}")
    math(EXPR found "${found} + 1")
  else()
    message(SEND_ERROR "${LIBRARY} exports ${name}")
  endif()
endforeach()
if(found LESS LEAST)
  message(SEND_ERROR "${LIBRARY} exports only ${found} functions")
endif()
