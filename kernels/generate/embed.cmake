# Writes TARGET, a C++ file with the texts of PAIR_LAWS and of DENSE (paths, joined by |). Pair laws
# that were compiled have their text of the kernel language in the folder TEXTS; some
# have another one for engines among doubles in TEXTS/doubles.

# A string literal has a largest length that compilers must take: longer texts are cut in pieces.
function(add_literal path to)
  file(READ ${path} text)
  string(LENGTH "${text}" length)
  set(pieces "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND pieces " R\"gds(${piece})gds\"")
    math(EXPR at "${at} + 8000")
  endwhile()
  set(${to} "${${to}},${pieces}" PARENT_SCOPE)
endfunction()

set(tables "")
foreach(list PAIR_LAWS DENSE)
  string(REPLACE "|" ";" paths "${${list}}")
  string(TOLOWER ${list} array)
  set(table "")
  foreach(path IN LISTS paths)
    get_filename_component(name ${path} NAME_WE)
    set(literals "")
    add_literal(${path} literals)
    if(array STREQUAL "pair_laws" AND EXISTS ${TEXTS}/${name}.gdk)
      add_literal(${TEXTS}/${name}.gdk literals)
    else()
      string(APPEND literals ", {}")
    endif()
    if(array STREQUAL "pair_laws" AND EXISTS ${TEXTS}/doubles/${name}.gdk)
      add_literal(${TEXTS}/doubles/${name}.gdk literals)
    else()
      string(APPEND literals ", {}")
    endif()
    string(APPEND table "    {\"${name}\"${literals}},\n")
  endforeach()
  string(APPEND tables "constexpr BuiltinKernel ${array}[] = {\n${table}};\n")
endforeach()
file(WRITE ${TARGET} "// Made from the kernels' sources.
#include \"kernels/builtin.hpp\"

#include <algorithm>
#include <string>

#include \"gdr/error.hpp\"

namespace gdr {
namespace {
${tables}}
std::span<const BuiltinKernel> builtin_kernels() noexcept { return pair_laws; }
std::string_view dense_kernel(std::string_view name) {
  const auto found = std::ranges::find(dense, name, &BuiltinKernel::name);
  if (found == std::ranges::end(dense))
    throw Error(ErrorCategory::Internal, \"there is no kernel \" + std::string(name));
  return found->source;
}
}  // namespace gdr
")
