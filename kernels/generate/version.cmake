# Writes TARGET, a C++ file with a hash of FILES (paths in the folder ROOT, joined by |).
string(REPLACE "|" ";" paths "${FILES}")
set(hashes "")
foreach(path IN LISTS paths)
  file(SHA256 ${ROOT}/${path} hash)
  string(APPEND hashes "${path} ${hash}\n")
endforeach()
string(SHA256 version "${hashes}")
file(WRITE ${TARGET} "// Made from the sources of the compiler and the assembler.
#include \"kernels/compiler/cache/compilation.hpp\"

namespace gdr::kc {
std::string_view compiler_version() noexcept { return \"${version}\"; }
}  // namespace gdr::kc
")
