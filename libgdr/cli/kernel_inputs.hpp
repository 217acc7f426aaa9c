// A kernel from a file, and values of its variables from text files: for `gdr run` and `gdr debug`.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "emulator/isa/program.hpp"
#include "gdr/kernel.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/table.hpp"

namespace gdr::cli {

/// A kernel of a file, with the text that its source lines count.
struct LoadedKernel {
  Kernel kernel;
  std::string assembly;  ///< generated assembly of a file in the kernel language; else empty
};

/// Read an object file (.gdo), or translate a source for a machine. Diagnostics go to standard
/// error and end in Error (Program). `schedule`: search for the chip's shortest loop. `in_longs`:
/// with the program that engines among doubles execute.
LoadedKernel load_kernel_for(const std::string& path, const Geometry& geometry, bool schedule,
                             bool in_longs = false);

/// Options for the values of a kernel's variables.
struct KernelInputOptions {
  std::string targets, sources;
  std::vector<std::string> settings;
  std::size_t target_count = 1, source_count = 1;
};
/// Add --targets, --sources and --set.
void add_kernel_input_options(CLI::App& app, KernelInputOptions& options);
/// Add --target-count and --iterations.
void add_kernel_count_options(CLI::App& app, KernelInputOptions& options);

/// Values of the variables of one kind; a kernel that declares none runs on a given number of rows.
struct KernelInput {
  std::vector<Column> columns;
  std::size_t rows = 0;
};
/// Read the file of an option, or take `count` rows if the kernel has no variables of this kind.
/// Throws Error (Usage) for a missing or superfluous file, and those of read_table.
KernelInput read_input(const Program& program, VarKind kind, const std::string& path,
                       const char* option, std::size_t count);

/// Values of params from the text of NAME=VALUE, or of an array of them from NAME=VALUE,VALUE...:
/// pairs of the index in the params, and a column of one value. Throws Error (Usage or Input).
std::vector<std::pair<std::size_t, Column>> read_params(const Program& program,
                                                        const std::string& assignment);

/// The values of a column as an array of the library.
template <typename Array, typename AnyColumn>
Array array_of(AnyColumn& column) {
  Array array;
  array.data = column.words.data();
  array.type = column.type;
  array.stride = Column::stride;
  return array;
}
std::vector<NamedInput> named_inputs(const std::vector<Column>& columns);

}  // namespace gdr::cli
