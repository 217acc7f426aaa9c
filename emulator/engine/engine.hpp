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
#include "emulator/isa/program.hpp"

namespace gdr {

/// Host instruction sets that an engine may use.
enum class Isa : std::uint8_t { Portable, Avx2, Avx512 };

/// j-items that an engine took over beforehand (Executable::convert_sources), for a run longer than
/// what the broadcast memory holds.
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
  /// run_whole only: words may keep what they held that are no results and that the sections, alone
  /// or together, overwrite before they look at them.
  bool results_only = false;
};

/// What an engine made of a section. Engines with one way of running leave it as it is.
struct SectionNote {
  bool compiled = false;  ///< runs the fast way: in host numbers, proved exact or not
  std::string reason;     ///< why not (instruction, source line, what), or only in part; else empty
  std::uint64_t runs = 0;        ///< on a block the fast way, since the program was made ready
  std::uint64_t exact_runs = 0;  ///< the slow way instead: not compiled, or its proof failed
  std::uint64_t code_bytes = 0;  ///< of machine code made so far; none on the portable path
  double compile_seconds = 0;    ///< spent making it
};
/// By section, as in Program::sections.
using ExecutableNotes = std::array<SectionNote, section_count>;

struct ProductKernels;  // emulator/engine/products/kernels.hpp

/// A program made ready for one engine and geometry. Immutable, and shared by threads.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Run a section on one block. Different blocks may run at the same time in different threads.
  /// The caller has checked that all BM addresses lie in the memory.
  virtual void run(BlockState& block, const BlockRun& run) const = 0;
  /// Bytes that a group of j-items takes in a SourceStream; 0 where the engine takes none.
  virtual std::size_t stream_bytes() const noexcept { return 0; }
  /// Whether runs over streams may leave output items (BlockRun::outputs).
  virtual bool streams_outputs() const noexcept { return false; }
  /// Takes over groups of j-items, as they would stand in the broadcast memory, `step` shorts from
  /// one to the next. False if this engine cannot hold them: they must go through the memory.
  virtual bool convert_sources(const std::uint64_t* /*shorts*/, std::size_t /*groups*/,
                               std::uint32_t /*step*/, std::byte* /*to*/) const noexcept {
    return false;
  }
  /// Groups of j-items up to which run_whole is worth a trial; 0 where the engine does not know it.
  virtual std::uint64_t most_whole_groups() const noexcept { return 0; }
  /// Start, a run of the body over a stream, and End in one go. False if that cannot be done: then
  /// nothing has changed but words that these sections overwrite without looking at them.
  virtual bool run_whole(BlockState& /*block*/, const BlockRun& /*body*/) const { return false; }
  /// How it has run so far.
  virtual ExecutableNotes notes() const { return {}; }
  /// Says that the body ran as sums of products (Engine::products): on so many blocks, and that so
  /// many sums of a block had to be taken the slow way.
  virtual void note_products(std::uint64_t /*blocks*/, std::uint64_t /*slow*/) const noexcept {}
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const noexcept = 0;
  virtual Isa isa() const noexcept = 0;
  /// True if its results are the machine's, bit for bit; false for fast numerics.
  virtual bool exact() const noexcept { return true; }
  /// With what it takes bodies that are nothing but sums of products; null: like any other.
  virtual const ProductKernels* products() const noexcept { return nullptr; }
  /// Throws gdr::Error (category Program) if the program does not fit the geometry.
  virtual std::shared_ptr<const Executable> prepare(const Program& program,
                                                    const Geometry& geometry) const = 0;
};

/// Names for options: "reference", "vector", "native", "native-float"; "portable", "avx2",
/// "avx512".
std::span<const std::string_view> engine_names() noexcept;
std::string_view isa_name(Isa isa) noexcept;
std::optional<Isa> find_isa(std::string_view name) noexcept;
/// Instruction sets this host can run, best first; Portable is always the last.
std::vector<Isa> host_isas();

/// Make an engine by name. Empty strings mean: what GDR_ENGINE / GDR_ISA say, else the default
/// ("vector", the best instruction set of the host). Throws gdr::Error (category Usage) for an
/// unknown name and (category Unsupported) for an instruction set that this host lacks.
std::unique_ptr<Engine> make_engine(std::string_view name = {}, std::string_view isa = {});

}  // namespace gdr
