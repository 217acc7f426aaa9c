#include "libgdr/cli/kernels.hpp"

#include <algorithm>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "kernels/compiler/compiler.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli {

bool is_library_kernel(const std::string& name) {
  const std::vector<std::string> names = Kernel::builtin_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

Kernel find_kernel(const std::string& name, std::string_view what,
                   std::vector<std::string_view> others) {
  if (is_library_kernel(name)) {
    verbose("kernel", "{} of the library", name);
    return Kernel::builtin(name);
  }
  verbose("kernel", "file {}", name);
  if (name.find_first_of("./") != std::string::npos) return Kernel::load(name);
  const std::vector<std::string> names = Kernel::builtin_names();
  others.insert(others.begin(), names.begin(), names.end());
  throw usage_error("{}; a kernel of your own is given as a file, NAME.gdk, .gds or .gdo",
                    unknown_name(what, name, others));
}

template <typename Result>
void check_diagnostics(const Result& result, const std::string& source,
                       std::string_view consequence) {
  if (!result.diagnostics.list.empty())
    show_rendered(result.diagnostics.render(stderr_has_colour()));
  if (!result.ok())
    throw Error(ErrorCategory::Program,
                fmt::format("{}: {}{}", source, counted(result.diagnostics.error_count, "error"),
                            consequence));
}

template void check_diagnostics(const AssembleResult&, const std::string&, std::string_view);
template void check_diagnostics(const CompileResult&, const std::string&, std::string_view);

void write_object_file(const std::string& path, const Program& program) {
  const std::vector<std::uint8_t> bytes = write_object(program);
  write_file_atomically(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace gdr::cli
