// Kernels: assembled programs with their declared interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gdr {

struct KernelCharges;
struct Program;

/// Role of a variable of a kernel.
enum class Role { Target, Source, Result, Param, Output };

/// Type of the host's numbers for a variable. A Raw value is the machine's bits in 64-bit words,
/// low word first: one for a short location, two for a long one. I32 is a type of arrays only, for
/// variables of I64.
enum class HostNumber { F64, F32, I64, Raw, I32 };

/// One variable of a kernel's interface, in the order of declaration.
struct KernelVariable {
  std::string name;
  Role role;
  HostNumber type;
  std::string conversion;      ///< declared conversion: "f64to72"
  std::string reduction;       ///< reduction of a result or output: "fadd"; else empty
  std::size_t host_bytes = 8;  ///< size of a value in the user's array: 4, 8, or 16 (a raw long)
  /// Value of all targets or sources if a job gets no array, as the kernel declares it: -1 of the
  /// ids of targets, -2 of those of sources, so that kernels that exclude equal ids exclude no
  /// pair. Variables without one need arrays.
  std::optional<std::int64_t> default_value = {};
  /// What the values of a target, source or param are, as the kernel declares it with `as`: "pos",
  /// "mass", "id", "eps"; else empty. Variables of one role and quantity are its components.
  std::string quantity = {};
  unsigned component = 0;  ///< number of the component among these variables
  bool squared = false;    ///< whether the values are squares of the quantity
};

/// Variables of a kernel that may be passed as one array: the elements name_0, name_1, ... of an
/// array, vector, tensor, table or list. `name` is also a variable in the case of a list.
struct KernelArray {
  std::string name;
  std::size_t first = 0;           ///< index of the first element in Kernel::variables
  std::vector<std::size_t> sizes;  ///< sizes, one for each index; the last index is the fastest
  std::size_t count = 0;           ///< number of elements
  /// The last index counts the real and the imaginary part of complex numbers, as in an array of
  /// std::complex<double>; its size is 2.
  bool complex = false;
};

/// An assembled kernel. Cheap to copy; immutable; may be used by any number of devices and threads.
class Kernel {
 public:
  /// Assemble a text. Throws Error (Program) whose message holds all diagnostics.
  static Kernel assemble(std::string_view text, const std::string& name = "kernel");
  /// Compile a text of the kernel language (docs/reference/kernel-language.md), which takes
  /// milliseconds. The search for the chip's shortest loop, of a tenth of a second to some seconds,
  /// follows when something needs it, once: a job on an exact engine or a board, `program`,
  /// `object` or `clocks_per_interaction`; `effort` of the search is 0 to 9. Throws Error (Program)
  /// whose message holds all diagnostics, or names the resource of the chip that is exhausted.
  /// Warnings are not reported. Throws Error (Device) once a stop is requested.
  static Kernel compile(std::string_view text, const std::string& name = "kernel",
                        unsigned effort = 2, const std::stop_token& stop = {});
  /// Read an object file (.gdo), compile a file of the kernel language (.gdk), or assemble a source
  /// file (any other name).
  static Kernel load(const std::string& path, const std::stop_token& stop = {});
  /// The kernel of an object file in memory, `size` bytes. Throws Error (Program) naming the defect
  /// of a malformed object.
  static Kernel from_object(const void* bytes, std::size_t size,
                            const std::string& name = "object");
  /// A kernel of the library by name, "gravity" or one of `builtin_names`. Throws Error (Usage)
  /// with the list of names.
  static Kernel builtin(std::string_view name);
  static std::vector<std::string> builtin_names();
  explicit Kernel(Program program);

  const std::string& name() const noexcept;
  const std::vector<KernelVariable>& variables() const noexcept;
  const std::vector<KernelArray>& arrays() const noexcept;
  /// Floating-point operations counted for one interaction, by the conventional count.
  double flops_per_interaction() const noexcept;
  /// Other names of variables and arrays for programs that pass arrays by name: pairs of a name of
  /// this kernel and its other name. They are kept in object files.
  std::vector<std::pair<std::string, std::string>> host_names() const;
  /// The same kernel with these host names. Throws Error (Program) for an unknown name of a
  /// variable, and for an empty or repeated one.
  Kernel with_host_names(const std::vector<std::pair<std::string, std::string>>& names) const;
  /// This kernel after the search of `compile`, if there is one: `progress` is called with the
  /// share that is done, from 0 to 1. Statistics of its jobs are those of the chip's program on
  /// every engine. Throws Error (Device) once a stop is requested; the search may be repeated.
  Kernel scheduled(const std::stop_token& stop = {},
                   const std::function<void(double)>& progress = {}) const;
  /// This kernel without that search, for engines whose speed does not depend on the schedule: with
  /// a longer program of the same interface. A kernel of the library is compiled from its text,
  /// once; assembled kernels and object files have no other program.
  Kernel unscheduled() const;
  /// This kernel with a second program in which every number is a long, for engines that compute in
  /// doubles: they execute that one, so that no input is rounded to a short. Kernels in assembly
  /// have no other program.
  Kernel with_longs() const;
  /// This kernel with a cut-off, as PairSum computes it: a pair counts only if its distance, in
  /// longs, is below a radius of the target, and if target and source have different numbers. These
  /// are three more variables: the targets' `cutoff_radius2`, the square of the radius, and
  /// `cutoff_target`, an int, and the sources' `cutoff_source`, an int. Positions are the variables
  /// of the quantity "pos". Throws Error (Unsupported) for a kernel without a text in the kernel
  /// language (assembly, object files), or without three coordinates of targets and of sources;
  /// Error (Usage) if it has variables of these names.
  Kernel with_cutoff() const;
  /// The adjoint of this kernel: a kernel that computes derivatives. For results f_k(i), sums over
  /// all sources, it has the derivatives of S = sum of g_k(i) f_k(i), over all targets and results,
  /// with respect to these variables: targets and params, or sources and params; a name may stand
  /// for an array. They are its results, with the names of the variables and `_bar` behind them;
  /// the weights g_k are inputs, with the names of the results and `_bar` behind them; others keep
  /// their names. With respect to sources the roles are exchanged: this kernel's sources are the
  /// targets of the adjoint. The derivative with respect to a param is the sum of its result over
  /// all targets. docs/reference/kernel-language.md#derivatives has the rules.
  ///
  /// Throws Error: Usage for a name of no variable of numbers, and for targets and sources
  /// together; Unsupported for a kernel without a text in the kernel language (assembly, object
  /// files), a table, and minima, maxima and the k smallest without an index; others as `compile`.
  Kernel adjoint(const std::vector<std::string>& variables) const;
  /// The same as a text of the kernel language.
  std::string adjoint_text(const std::vector<std::string>& variables) const;
  /// Whether `scheduled` needs no search: of all kernels but those of `compile`.
  bool has_schedule() const noexcept { return !search_; }

  // After `compile`, these search first.
  /// Clocks of the loop body for one interaction and PE.
  double clocks_per_interaction() const;
  const Program& program() const;
  /// Contents of this kernel's object file (.gdo), with the program of `with_longs`: a kernel read
  /// from it computes alike on every engine.
  const std::vector<std::uint8_t>& object() const;
  /// The object file of `program` alone, as boards load it.
  const std::vector<std::uint8_t>& program_object() const;

 private:
  explicit Kernel(std::shared_ptr<const struct KernelData> data,
                  std::shared_ptr<class KernelSearch> search = {});
  static Kernel compile(const class KernelText& text, unsigned effort, const std::stop_token& stop);
  const KernelData& scheduled_data() const;
  friend class ImageCheck;  // reads limits of periodic images
  friend class TreeSum;     // reads charges
  /// The charges of the kernel. Throws Error (Unsupported), with the reason, for a kernel that has
  /// none, or neither a text in the kernel language nor three coordinates of targets and sources.
  KernelCharges charges() const;

  std::shared_ptr<const KernelData> data_;
  std::shared_ptr<KernelSearch>
      search_;  ///< search of a kernel that is not scheduled yet; else null
  std::shared_ptr<KernelSearch>
      text_;  ///< text of a kernel of the library, which makes the unscheduled program
};

}  // namespace gdr
