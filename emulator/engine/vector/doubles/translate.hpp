// A section of a program as operations on strips of doubles.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/engine/engine.hpp"
#include "emulator/engine/vector/doubles/op.hpp"
#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

/// Memories of the machine's state that have rows in a frame.
enum class StateMemory : std::uint8_t { Registers, Local, T, Masks };

/// Rows of the state and their places in the frame: shorts, or longs with the row after each; words
/// whose rows are equally far apart in both.
struct StateLink {
  StateMemory memory = StateMemory::Registers;
  std::uint32_t row = 0;  ///< row in BlockState: short address; for masks mask * 4 + element
  Form form = Form::Short;
  std::uint32_t lanes = 0, tail = 0;  ///< byte offsets in the frame
  bool float_result = false;          ///< a short that an operation on floats has left
  bool plus_zero = false;             ///< a long that is taken never to be -0
  bool fresh = false;                 ///< export of a word of which nothing is imported
  bool scratch = false;               ///< export of a word that is dead in a results-only run
  bool carried = false;               ///< export: the last pass needs what the one before leaves
  std::uint32_t count = 1;            ///< words
  std::uint32_t row_step = 0;         ///< distance of words in rows of the state
  std::uint32_t lane_step = 0;        ///< bytes of the frame
};

/// A row that does not change: the same bits in every lane, or the PE's number (an integer short).
struct ConstantRow {
  std::uint32_t lanes = 0;
  std::uint64_t bits = 0;
  enum class Kind : std::uint8_t { Bits, PeNumber, BlockNumber } kind = Kind::Bits;
};

/// The instruction that an operation belongs to. Conversions between sections and passes, after the
/// last instruction, have its number plus one.
struct OpOrigin {
  Section section = Section::Body;
  std::uint32_t instruction = 0;
};

/// Operations in the order in which they run; the last one stops.
struct OpList {
  std::vector<DoublesOp> ops;
  std::vector<OpOrigin> origins;    ///< one for each operation, but for fused lists
  std::vector<std::uint32_t> live;  ///< sorted offsets of the live rows after the list
  bool empty() const { return ops.size() < 2; }
};

/// One section, translated. Immutable.
struct DoublesSection {
  bool usable = false;
  std::uint64_t number = 0;  ///< no other section has it, if it is usable
  bool has_floats = false;   ///< operations on floats: what doubles are good for
  std::string reason;        ///< why not: which instruction, what about it
  /// The last passes, or all of them: leave every word as the machine does.
  OpList last;
  /// The passes before the last_passes, and all of a whole run of which only results are wanted: in
  /// lanes that predicates leave out they need not compute what nobody can observe
  /// (masked_lanes.hpp). Empty if there are none.
  OpList pass;
  /// How many passes of a run are to be `last`.
  std::uint64_t last_count(const BlockRun& run) const {
    if (pass.empty()) return run.iterations;
    if (!resumable) return run.results_only ? 0 : run.iterations;
    return run.iterations < last_passes ? run.iterations : last_passes;
  }
  static constexpr std::uint64_t last_passes = 2;
  OpList enter;          ///< before the first `pass` of a run: words that it does not observe
  OpList before, after;  ///< once, before the first pass and after the last
  std::vector<StateLink> imports, exports;
  bool resumable = false;                 ///< the block may be left as it is between two passes
  std::vector<std::uint32_t> checkpoint;  ///< rows that `last` reads and overwrites
  std::uint32_t deferred_longs = 0;       ///< words among the exports that are not fresh
  std::vector<ConstantRow> constants;
  std::uint32_t row_lanes = 0;    ///< PEs, filled up to whole batches
  std::uint32_t frame_bytes = 0;  ///< size of the frame
  bool writes_memory = false;     ///< whether it stores to the broadcast memory
  std::vector<std::uint32_t>
      bm_stores;  ///< where, in shorts; empty if that moves from pass to pass
  std::vector<std::shared_ptr<const void>> code;  ///< keeps what fused operations call
};

/// Translate a section that check_program has accepted. With `heads`, longs from outside are taken
/// to have no tails (what comes from host doubles has none), and those that were in the PEs before
/// not to be -0; a run finds out if that is wrong.
DoublesSection translate_to_doubles(const Program& program, Section section,
                                    const Geometry& geometry, const DoublesKernels& kernels,
                                    bool heads);

/// Translates Start, passes of the body and End as one program (fused run), so that words stay in
/// doubles between them. Not usable if Start or End access words of the broadcast memory that are
/// not fixed, if the body accepts no stream or writes output items, or if translate_to_doubles
/// fails.
DoublesSection translate_program(const Program& program, const Geometry& geometry,
                                 const DoublesKernels& kernels, bool heads);

}  // namespace gdr
