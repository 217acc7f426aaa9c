// What executes programs: one decoded program, several engines, one interface, the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/host/isa.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

/// j-items that an engine took over beforehand (StreamedExecutable::convert_sources), for a run
/// longer than what the broadcast memory holds.
struct SourceStream {
  const std::byte* groups = nullptr;  ///< of the run, one behind the other; null: there is none
  std::uint32_t last_group = 0;  ///< BM address (shorts) where the last group stands nevertheless
};

/// What one block is asked to do: a section, `iterations` times over.
struct BlockRun {
  Section section = Section::Body;
  std::uint64_t iterations = 1;
  std::uint32_t source_base = 0;  ///< BM address (shorts) of the first group of j-items
  std::uint32_t source_step = 0;  ///< shorts that it advances each time
  std::uint32_t output_base = 0;  ///< BM address (shorts) of the first group of output items
  std::uint32_t output_step = 0;
  bool collect_flags = false;  ///< keep sticky flags in BlockState::flags
  /// Body only, instead of source_base and source_step, which then count for nothing.
  SourceStream stream;
  /// Body over a stream only, of a program that leaves output items: where they go, `output_step`
  /// shorts from one group to the next. Their place in the memory, at output_base, stays as it is.
  std::uint64_t* outputs = nullptr;
  /// PEs 0 .. live_pes - 1 hold targets that count; 0: all do. Engines with fast numerics may leave
  /// the others as they are.
  std::uint32_t live_pes = 0;
  /// StreamedExecutable::run_whole only: words may keep what they held that are no results and that
  /// the sections, alone or together, overwrite before they look at them.
  bool results_only = false;
};

/// What an engine made of a section. Engines with one way of running leave it as it is.
struct SectionNote {
  bool compiled = false;  ///< runs the fast way: in host numbers, proved exact or not
  std::string reason;     ///< why not (instruction, source line, what), or only in part; else empty
  /// Where the first run whose proof failed went wrong (instruction, source line, what); else
  /// empty.
  std::string fallback;
  std::uint64_t runs = 0;        ///< on a block the fast way, since the program was made ready
  std::uint64_t exact_runs = 0;  ///< the slow way instead: not compiled, or its proof failed
  std::uint64_t code_bytes = 0;  ///< of machine code made so far; none on the portable path
  double compile_seconds = 0;    ///< spent making it
};
/// By section, as in Program::sections.
using ExecutableNotes = std::array<SectionNote, section_count>;

class PassRunner;
struct LoadedProgram;
struct ProductKernels;  // emulator/engine/products/kernels.hpp
struct FastKernels;     // emulator/engine/products/fast_kernels.hpp

/// A program made ready for one engine and geometry. Immutable, and shared by threads.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Run a section on one block. Different blocks may run at the same time in different threads.
  /// The caller has checked that all BM addresses lie in the memory.
  virtual void run(BlockState& block, const BlockRun& run) const = 0;
  /// What executes passes of this program on the chips of one board (pass.hpp), with what it keeps
  /// from one pass to the next. `loaded` is this program for this geometry; both must outlive the
  /// runner. By default blocks are worked off one by one, section after section.
  virtual std::unique_ptr<PassRunner> pass_runner(const LoadedProgram& loaded,
                                                  const Geometry& geometry) const;
  /// How it has run so far.
  virtual ExecutableNotes notes() const { return {}; }
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const noexcept = 0;
  virtual Isa isa() const noexcept = 0;
  /// True if its results are the machine's, bit for bit; false for fast numerics.
  virtual bool exact() const noexcept { return true; }
  /// Fast numerics with kernels for matrix products: what the chip cuts off a factor is multiplied,
  /// too.
  virtual bool multiplies_all_bits() const noexcept { return false; }
  /// Throws gdr::Error (category Program) if the program does not fit the geometry.
  virtual std::shared_ptr<const Executable> prepare(const Program& program,
                                                    const Geometry& geometry) const = 0;
};

/// Names for options: "reference", "vector", "native", "native-float".
std::span<const std::string_view> engine_names() noexcept;
/// Make an engine by name. Empty strings mean: what GDR_ENGINE / GDR_ISA say, else the default
/// ("vector", the best instruction set of the host). Throws gdr::Error (category Usage) for an
/// unknown name and (category Unsupported) for an instruction set that this host lacks.
std::unique_ptr<Engine> make_engine(std::string_view name = {}, std::string_view isa = {});

}  // namespace gdr
