// Operands of kernels on doubles: strips of a frame, one operation at a time.
//
// Plain data without inline functions: the kernels are compiled once for each instruction set of
// the host, and nothing that they share with the rest of the program may be compiled twice.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdr {

/// Representation of a word in lanes of doubles.
///
/// Short: one double whose bits are the short's 36 and 28 zeros below. Head: a long whose low eight
/// fraction bits are zero, so that its upper 64 bits are a double of the same value. Pair: a double
/// h and a double l; h + l is the long's value exactly, and |l| is at most one unit in the last
/// place of h.
enum class Form : std::uint8_t { Short = 0, Head = 1, Pair = 2 };
constexpr unsigned form_count = 3;

/// Reasons why a run on doubles is discarded, as bits.
enum DoublesFailure : std::uint64_t {
  has_tail =
      1,  ///< a Head has low bits, or a sum began at -0: retry with the conservative translation
  inexact = 2,  ///< not verified exact in doubles
};

struct DoublesOp;

/// Shared state of a section's operations while they run on one block.
struct DoublesRun {
  std::byte* frame = nullptr;
  const DoublesOp* next = nullptr;  ///< continuation after a pause
  std::uint64_t* memory[3] = {};    ///< broadcast memory: fixed words, current j-items, outputs
  std::uint64_t failure = 0;        ///< bits of DoublesFailure; flags of the host come on top
  std::uint64_t put[8] = {};        ///< words on their way to the broadcast memory (upper, lower)
};

/// Works on an operation and goes on to the one behind it in the array; the last one stops, and
/// some pause: where a compiler makes calls of the jumps from one to the next, the stack stays
/// small.
using DoublesKernel = void (*)(const DoublesOp& op, DoublesRun& run);

/// Lanes of an operand as byte offsets in the frame; `tail` is the l of a pair, or the lower of two
/// rows of shorts. `step` leads from an element to the next.
struct LanePlace {
  std::uint32_t lanes = 0, tail = 0, step = 0;
};

/// One operation on `elements` rows of lanes.
struct DoublesOp {
  DoublesKernel kernel = nullptr;
  std::uint32_t elements = 0;
  std::uint32_t lanes = 0;  ///< lanes of a row, a multiple of DoublesKernels::batch
  LanePlace a, b, out;
  LanePlace mask;                  ///< the predicate, if the kernel heeds one
  LanePlace old;                   ///< under a predicate: what lanes get that it leaves out
  bool value = true;               ///< the predicate's bit that lets a write through
  std::uint8_t memory = 0;         ///< transfers: which of DoublesRun::memory
  std::uint8_t element = 0;        ///< transfers to the memory: which word of `put`
  std::uint32_t address = 0;       ///< transfers: in shorts from there
  std::uint32_t address_step = 0;  ///< fills: from an element to the next
  std::uint32_t lane = 0;          ///< transfers to the memory: the PE
};

/// Rows of the machine's state on their way to or from a frame.
struct StateRows {
  std::uint64_t *hi = nullptr, *lo = nullptr;  ///< shorts of the state, `pes` lanes each
  double *lanes = nullptr, *tail = nullptr;    ///< rows of the frame
  std::size_t pes = 0, padded = 0;  ///< lanes from `pes` on repeat the first: they raise no flags
  bool plus_zero = false;           ///< import of a long: -0 is not expected
  std::uint32_t count = 1;          ///< words of all PEs
  std::size_t state_step = 0, frame_step = 0;  ///< distance of words in lanes
};
/// Both return bits of DoublesFailure.
using StateKernel = std::uint64_t (*)(const StateRows& rows);

/// A kernel, and the same writing only where a predicate of the value false or true lets it (null
/// where that takes a blend of its own).
struct MaskableKernel {
  DoublesKernel always = nullptr;
  DoublesKernel under[2] = {};
};

/// Kernels of one instruction set. Sums and products: [operation][form of a][form of b][long out].
struct DoublesKernels {
  MaskableKernel sum[2][form_count][form_count][2];  ///< fadd, fsub
  /// The same, long from a pair and a short, where the pair is never -0: accumulation.
  MaskableKernel accumulate[2];
  /// The same in place: where the predicate leaves a lane out, zero is added (only under one).
  MaskableKernel accumulate_in_place[2];
  /// The same in place, for another accumulation to the same rows: l may be larger than one unit in
  /// the last place of h, and h + l beyond the largest long is not noticed.
  MaskableKernel accumulate_unnormalized[2];
  MaskableKernel product[2][form_count][form_count][2];  ///< fmul, dmul
  DoublesKernel extreme[2][form_count][form_count][2];   ///< fmax, fmin
  DoublesKernel convert[form_count][2];                  ///< fcvt
  /// Short integer operations, by position in the table after Iadd.
  DoublesKernel integer[15];
  DoublesKernel integer_checked[15];  ///< the same, with `check` of `a`
  DoublesKernel integer_test[15][2];  ///< only the mask of the result: [negative, zero]
  /// `a` to the mask's lanes: [integer][negative, zero].
  DoublesKernel test[2][2];
  DoublesKernel copy[2];      ///< rows as they are: without and with tails
  DoublesKernel blend[2][2];  ///< the same where the predicate lets it: [tails][value]
  DoublesKernel fill[3];      ///< a word of the broadcast memory to all lanes, by form
  DoublesKernel check;        ///< fails if a lane of `a` is infinite or no number
  DoublesKernel split[2];     ///< head or pair to two rows of shorts
  DoublesKernel join;         ///< two rows of shorts to a pair
  StateKernel import[form_count];
  StateKernel export_[form_count];  ///< never fails for a short
  StateKernel check_result;         ///< whether a short that floats have left is what it shows
  StateKernel export_result;        ///< both for such a short
  void (*leave)();          ///< call after the last kernel: clears the upper halves of registers
  unsigned failure_flags;   ///< MXCSR flags that mark a run as failed
  std::uint32_t batch = 0;  ///< rows have a multiple of so many lanes
};

/// Lanes of the chip's own blocks, and those that blocks with fewer PEs have a multiple of.
constexpr std::uint32_t wide_batch = 32, narrow_batch = 8;
const DoublesKernels& doubles_kernels_avx2(std::uint32_t batch) noexcept;
const DoublesKernels& doubles_kernels_avx512(std::uint32_t batch) noexcept;

}  // namespace gdr
