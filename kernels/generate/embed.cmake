# Writes TARGET, a C++ file with the texts of KERNELS (paths, joined by |).
string(REPLACE "|" ";" kernels "${KERNELS}")
set(table "")
foreach(path IN LISTS kernels)
  get_filename_component(name ${path} NAME_WE)
  file(READ ${path} text)
  # A string literal has a largest length that compilers must take: longer texts are cut in pieces.
  string(LENGTH "${text}" length)
  set(pieces "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND pieces " R\"gds(${piece})gds\"")
    math(EXPR at "${at} + 8000")
  endwhile()
  string(APPEND table "    {\"${name}\",${pieces}},\n")
endforeach()
file(WRITE ${TARGET} "// Made from the kernels' sources.
#include \"kernels/builtin.hpp\"

namespace gdr {
namespace {
constexpr BuiltinKernel kernels[] = {
${table}};
}
std::span<const BuiltinKernel> builtin_kernels() noexcept { return kernels; }
}  // namespace gdr
")
