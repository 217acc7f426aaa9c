// A section of a program as operations on strips of doubles.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/lanes/doubles/op.hpp"
#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

/// Memories of the machine's state that have rows in a frame.
enum class StateMemory : std::uint8_t { Registers, Local, T, Masks };

/// Rows of the state and their places in the frame: shorts, or longs (two consecutive rows of the
/// state). Several words are equidistant in both.
struct StateLink {
  StateMemory memory = StateMemory::Registers;
  std::uint32_t row = 0;  ///< row in BlockState: short address; for masks mask * 4 + element
  Form form = Form::Short;
  std::uint32_t lanes = 0, tail = 0;  ///< byte offsets in the frame
  bool float_result = false;  ///< whether it is a short that is the result of a float operation
  bool plus_zero = false;     ///< whether it is a long that is assumed never to be -0
  bool fresh = false;         ///< whether it is the export of a word of which nothing is imported
  bool scratch = false;  ///< whether it is the export of a word that is dead in a results-only run
  bool carried = false;  ///< whether the exported word is live between iterations
  std::uint32_t count = 1;      ///< number of words
  std::uint32_t row_step = 0;   ///< distance of words in rows of the state
  std::uint32_t lane_step = 0;  ///< bytes of the frame
};

/// A row that does not change: the same bits in every lane, or the PE's number (an integer short).
struct ConstantRow {
  std::uint32_t lanes = 0;
  std::uint64_t bits = 0;
  enum class Kind : std::uint8_t { Bits, PeNumber, BlockNumber } kind = Kind::Bits;
};

/// The instruction that an operation belongs to. Conversions after the last instruction have its
/// number plus one.
struct OpOrigin {
  Section section = Section::Body;
  std::uint32_t instruction = 0;
};

/// Operations in the order in which they run; the last one stops.
struct OpList {
  std::vector<DoublesOp> ops;
  std::vector<OpOrigin> origins;    ///< one for each operation, except in compiled lists
  std::vector<std::uint32_t> live;  ///< sorted offsets of the live rows after the list
  bool empty() const { return ops.size() < 2; }
};

/// One section, translated. Immutable.
struct DoublesSection {
  bool usable = false;
  std::uint64_t number = 0;  ///< unique identifier of a usable section
  bool has_floats = false;   ///< whether it contains operations on floats
  std::string reason;        ///< why it is not usable: the instruction and its problem
  /// The last iterations, or all of them: leave every word as the machine does.
  OpList last;
  /// The iterations before the last ones, and all iterations of a results-only fused run: do not
  /// compute values in dead lanes (mask_lanes). Empty if there are none.
  OpList iteration;
  /// The number of iterations of a run that execute `last`.
  std::uint64_t last_count(const BlockRun& run) const {
    if (iteration.empty()) return run.iterations;
    if (!resumable) return run.results_only ? 0 : run.iterations;
    return run.iterations < last_iterations ? run.iterations : last_iterations;
  }
  static constexpr std::uint64_t last_iterations = 2;
  OpList enter;          ///< list before the first `iteration` of a run: replaces dead lanes
  OpList before, after;  ///< lists before the first iteration and after the last
  std::vector<StateLink> imports, exports;
  bool resumable = false;                 ///< whether state between two iterations may be exported
  std::vector<std::uint32_t> checkpoint;  ///< rows that `last` reads and overwrites
  std::uint32_t deferred_longs = 0;       ///< words among the exports that are not fresh
  std::vector<ConstantRow> constants;
  std::uint32_t row_lanes = 0;    ///< PEs, filled up to whole batches
  std::uint32_t frame_bytes = 0;  ///< size of the frame
  bool writes_memory = false;     ///< whether it stores to the broadcast memory
  /// Addresses of these stores, in shorts; empty if they differ from iteration to iteration.
  std::vector<std::uint32_t> bm_stores;
  std::vector<std::shared_ptr<const void>> code;  ///< owners of the compiled operations
};

/// Translates a section that check_program has accepted. With `heads`, imported longs are assumed
/// to have no tails (those converted from host doubles have none) and not to be -0; a run fails if
/// that is wrong.
DoublesSection translate_to_doubles(const Program& program, Section section,
                                    const Geometry& geometry, const DoublesKernels& kernels,
                                    bool heads);

/// Translates Start, iterations of the body and End as one program (fused run), so that words stay
/// in doubles between them. Not usable if Start or End access words of the broadcast memory that
/// are not fixed, if the body accepts no stream or writes output items, or if translate_to_doubles
/// fails.
DoublesSection translate_program(const Program& program, const Geometry& geometry,
                                 const DoublesKernels& kernels, bool heads);

}  // namespace gdr
