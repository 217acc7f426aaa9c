// Engines: several ways to execute a decoded program behind one interface.
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
#include "emulator/engine/api/capabilities.hpp"
#include "emulator/host/isa.hpp"
#include "emulator/isa/program.hpp"
#include "emulator/port/change_log.hpp"

namespace gdr {

/// j-items that an engine converted beforehand (StreamingExecutable::convert_sources), for a run of
/// more items than the broadcast memory holds.
struct SourceStream {
  const std::byte* groups = nullptr;   ///< consecutive groups; null: no stream
  std::uint32_t last_group = 0;        ///< BM address (shorts) of the last group
  const ChangeLog* changes = nullptr;  ///< changed groups of the form; null: not known
  std::uint64_t first = 0;             ///< number of the first group in this log
};

/// A request to one block: a section, executed `iterations` times.
struct BlockRun {
  Section section = Section::Body;
  std::uint64_t iterations = 1;
  std::uint32_t source_base = 0;  ///< BM address (shorts) of the first group of j-items
  std::uint32_t source_step = 0;  ///< advance per iteration, in shorts
  std::uint32_t output_base = 0;  ///< BM address (shorts) of the first group of output items
  std::uint32_t output_step = 0;
  bool collect_flags = false;  ///< keep sticky flags in BlockState::flags
  /// Body only; replaces source_base and source_step.
  SourceStream stream;
  /// Body over a stream only, for programs with output items: their destination, `output_step`
  /// shorts from one group to the next. The memory at output_base is not written.
  std::uint64_t* outputs = nullptr;
  /// PEs 0 .. live_pes - 1 hold valid targets; 0: all. Engines with fast numerics may skip the
  /// others.
  std::uint32_t live_pes = 0;
  /// StreamingExecutable::run_program only: words that are not results, and that the sections write
  /// before they read them, may keep their previous values.
  bool results_only = false;
};

/// Statistics of a section. Engines with a single execution path leave the defaults.
struct SectionStats {
  bool compiled = false;  ///< runs in host numbers, verified or fast
  std::string reason;     ///< why not, or only in part (instruction, source line)
  /// First inexact instruction of the first run that failed verification (with source line); empty
  /// if none failed.
  std::string first_failure;
  std::uint64_t runs = 0;           ///< block runs in host numbers since preparation
  std::uint64_t fallback_runs = 0;  ///< block runs on integers or the exact engine instead
  std::uint64_t code_bytes = 0;     ///< size of the machine code; 0 on the portable path
  double compile_seconds = 0;       ///< time spent on code generation
  std::uint64_t gpu_runs = 0;       ///< block runs on a GPU, included in `runs`
};
/// By section, as in Program::sections.
using ExecutableStats = std::array<SectionStats, section_count>;

/// Fused runs of several blocks whose bodies are executed together, on a device
/// (StreamingExecutable::start_batch).
class FusedBatch {
 public:
  virtual ~FusedBatch() = default;
  /// Section Start of run `n`, before `run_bodies`; for different n in different threads.
  virtual void begin(std::size_t n, BlockState& block, const BlockRun& body) = 0;
  virtual void run_bodies() = 0;
  /// Section End of a run that began, after `run_bodies`. False as
  /// StreamingExecutable::run_program.
  virtual bool end(std::size_t n, BlockState& block, const BlockRun& body) = 0;
};

class PassRunner;
class StreamingExecutable;
struct LoadedProgram;
// emulator/engine/matmul/cpu/functions.hpp
struct MatmulFunctions;
struct FastMatmulFunctions;
class MatmulDevice;  // emulator/engine/matmul/matmul_device.hpp

/// What an executable has for bodies that are matrix products; null: not supported.
struct MatmulSupport {
  const MatmulFunctions* exact = nullptr;     ///< the machine's sums, bit for bit
  const FastMatmulFunctions* fast = nullptr;  ///< sums in the host's doubles
  MatmulDevice* device = nullptr;             ///< device for large products
};

/// A program prepared for one engine and geometry. Immutable; shared by threads.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Run a section on one block. Different blocks may run at the same time in different threads.
  /// The caller has checked that all BM addresses lie in the memory.
  virtual void run(BlockState& block, const BlockRun& run) const = 0;
  /// Creates the runner of this program's passes on the chips of one board (pass.hpp), with its
  /// caches. `loaded` is this program for this geometry; both must outlive the runner. See
  /// runners/blockwise.hpp for an executable that implements `run` only.
  virtual std::unique_ptr<PassRunner> pass_runner(const LoadedProgram& loaded,
                                                  const Geometry& geometry) const = 0;
  /// This, if its runs may read a SourceStream; else null.
  virtual const StreamingExecutable* streaming() const noexcept { return nullptr; }
  /// How it has run so far.
  virtual ExecutableStats stats() const { return {}; }
};

/// An executable whose runs may read a SourceStream. The blockwise pass runner uses these
/// functions.
class StreamingExecutable : public Executable {
 public:
  /// Bytes of a group of j-items in a SourceStream; 0 if the program accepts no stream.
  virtual std::size_t stream_bytes() const noexcept = 0;
  /// Whether runs over streams may write output items (BlockRun::outputs).
  virtual bool streams_outputs() const noexcept { return false; }
  /// Whether a stream has the words of the broadcast memory, so that `convert_sources` copies.
  virtual bool streams_memory_words() const noexcept { return false; }
  /// Converts groups of j-items, given as in the broadcast memory, `step` shorts apart. False if
  /// the engine cannot represent them: they must go through the memory.
  virtual bool convert_sources(const std::uint64_t* shorts, std::size_t groups, std::uint32_t step,
                               std::byte* to) const noexcept = 0;
  /// Largest number of groups for which run_program should be tried; 0 if unsupported.
  virtual std::uint64_t max_fused_groups() const noexcept = 0;
  /// Fused run: Start, the body over a stream, and End. False on failure: then only words that
  /// these sections write without reading them have changed.
  virtual bool run_program(BlockState& block, const BlockRun& body) const = 0;
  /// Starts fused runs of `runs` blocks with up to `groups` groups of j-items each, of which only
  /// results are wanted. Null: better one by one, with run_program.
  virtual std::unique_ptr<FusedBatch> start_batch(std::size_t /*runs*/,
                                                  std::uint64_t /*groups*/) const {
    return nullptr;
  }
  /// Whether passes should be executed together (PassRunner::run_together), as more blocks than a
  /// board has fit a batch.
  virtual bool joins_passes() const { return false; }
  /// Records the time of such runs, as a batch (start_batch) or one by one.
  virtual void record_batch(std::size_t /*runs*/, std::uint64_t /*groups*/, bool /*as_batch*/,
                            double /*seconds*/) const {}
  virtual MatmulSupport matmul() const noexcept { return {}; }
  /// Counts a body that ran as a matrix product: the number of blocks, and of sums that used the
  /// integer fallback.
  virtual void record_matmul(std::uint64_t blocks, std::uint64_t slow) const noexcept = 0;
  /// Counts a body that was given to the device for products: the number of blocks, whether the
  /// device computed it, and whether the host had to compute some of its items.
  virtual void record_device_matmul(std::uint64_t /*blocks*/, bool /*computed*/,
                                    bool /*repeated*/) const noexcept {}

  const StreamingExecutable* streaming() const noexcept final { return this; }
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const noexcept = 0;
  virtual Isa isa() const noexcept = 0;
  /// What it offers.
  Capabilities capabilities() const noexcept { return capabilities_of(name()); }
  /// Throws gdr::Error (category Program) if the program does not fit the geometry.
  virtual std::shared_ptr<const Executable> prepare(const Program& program,
                                                    const Geometry& geometry) const = 0;
};

/// Names for options: "reference", "vector", "native", "native-mixed", "native-float",
/// "native-fast", "gpu", "gpu-float", "gpu-exact". The last three need a device; a number or a part
/// of its name may follow a colon ("gpu:1"). capabilities.hpp has their table.
std::vector<std::string_view> engine_names();
/// The name of the engine that a word stands for: "vector" for "exact", else the word.
std::string_view engine_without_alias(std::string_view name) noexcept;
/// Creates an engine by name or alias. Empty strings select GDR_ENGINE / GDR_ISA, else "vector" and
/// the best instruction set of the host; interfaces for users have defaults of their own
/// (libgdr/device/default_engines.hpp). Throws gdr::Error (category Usage) for an
/// unknown name and (category Unsupported) for an instruction set that this host lacks.
std::unique_ptr<Engine> make_engine(std::string_view name = {}, std::string_view isa = {});

}  // namespace gdr
