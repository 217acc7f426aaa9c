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
  inexact = 2,  ///< a result is not verified exact in doubles
};

struct DoublesOp;

/// Shared state of a section's operations while they run on one block.
struct DoublesRun {
  std::byte* frame = nullptr;
  const DoublesOp* next = nullptr;  ///< continuation after a pause
  std::uint64_t* memory[3] = {};    ///< broadcast memory: fixed words, current j-items, outputs
  std::uint64_t failure = 0;        ///< bits of DoublesFailure; flags of the host come on top
  std::uint64_t bm_words[8] = {};   ///< words to be stored to the broadcast memory (upper, lower)
};

/// Executes an operation and then the next one in the array; the last one stops. Some pause, which
/// bounds the stack if the compiler turns the jumps between kernels into calls.
using DoublesKernel = void (*)(const DoublesOp& op, DoublesRun& run);

/// Lanes of an operand as byte offsets in the frame; `tail` is the l of a pair, or the lower of two
/// rows of shorts; `step` is the distance of elements.
struct LanePlace {
  std::uint32_t lanes = 0, tail = 0, step = 0;
};

/// One operation on `elements` rows of lanes.
struct DoublesOp {
  DoublesKernel kernel = nullptr;
  std::uint32_t elements = 0;
  std::uint32_t lanes = 0;  ///< lanes of a row, a multiple of DoublesKernels::batch
  LanePlace a, b, out;
  LanePlace mask;                  ///< the predicate, if the kernel has one
  LanePlace old;                   ///< values of the lanes that a predicate excludes
  bool value = true;               ///< the predicate's bit in written lanes
  std::uint8_t memory = 0;         ///< transfers: which of DoublesRun::memory
  std::uint8_t element = 0;        ///< transfers to the memory: which of `bm_words`
  std::uint32_t address = 0;       ///< transfers: in shorts from there
  std::uint32_t address_step = 0;  ///< fills: from an element to the next
  std::uint32_t lane = 0;          ///< transfers to the memory: the PE
};

/// Rows of the machine's state to be imported to or exported from a frame.
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

/// A kernel, and the same under a predicate of the value false or true (null: a separate blend is
/// necessary).
struct MaskableKernel {
  DoublesKernel always = nullptr;
  DoublesKernel under[2] = {};
};

/// Kernels of one instruction set. Sums and products: [operation][form of a][form of b][long out].
struct DoublesKernels {
  MaskableKernel sum[2][form_count][form_count][2];  ///< fadd, fsub
  /// Accumulation: long sum of a pair that is never -0 and a short.
  MaskableKernel accumulate[2];
  /// The same in place, only under a predicate: zero is added in excluded lanes.
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
  DoublesKernel test[2];              ///< float `a` to the mask's lanes: [negative, zero]
  DoublesKernel copy[2];              ///< rows as they are: without and with tails
  DoublesKernel blend[2][2];          ///< the same under a predicate: [tails][value]
  DoublesKernel fill[3];              ///< a word of the broadcast memory to all lanes, by form
  DoublesKernel check;                ///< fails if a lane of `a` is infinite or no number
  DoublesKernel split[2];             ///< head or pair to two rows of shorts
  DoublesKernel join;                 ///< two rows of shorts to a pair
  StateKernel import[form_count];
  StateKernel export_[form_count];  ///< never fails for a short
  StateKernel check_result;         ///< fails if a float result is infinite or NaN
  StateKernel export_result;        ///< export of a short with this check
  void (*leave)();          ///< call after the last kernel: clears the upper halves of registers
  unsigned failure_flags;   ///< raised_flags() that mark a run as failed
  std::uint32_t batch = 0;  ///< rows have a multiple of so many lanes
};

/// Lanes of a row are a multiple of this: for the chip's own blocks, and for those with fewer PEs.
constexpr std::uint32_t wide_batch = 32, narrow_batch = 8;
const DoublesKernels& doubles_kernels_avx2(std::uint32_t batch) noexcept;
const DoublesKernels& doubles_kernels_avx512(std::uint32_t batch) noexcept;
const DoublesKernels& doubles_kernels_neon(std::uint32_t batch) noexcept;

// --- kernels that need no vectors: transfers to the broadcast memory, and the end of a list

/// Copies a lane's short to DoublesRun::bm_words, before the instruction writes anything.
void read_lane(const DoublesOp& op, DoublesRun& run);
/// Stores a word of DoublesRun::bm_words to the broadcast memory, always or under the lane's mask.
void write_always(const DoublesOp& op, DoublesRun& run);
void write_masked_word(const DoublesOp& op, DoublesRun& run);
/// Stores a lane's long of each element to consecutive words; `a` has their upper and lower halves.
void store_longs(const DoublesOp& op, DoublesRun& run);
/// True for the kernels above.
bool touches_memory(DoublesKernel kernel);
/// Ends a list; or interrupts it, to continue at DoublesRun::next.
void stop(const DoublesOp& op, DoublesRun& run);
void pause(const DoublesOp& op, DoublesRun& run);
/// Number of operations between pauses.
constexpr std::size_t pause_after = 256;

/// An operation without operands.
DoublesOp plain_operation(DoublesKernel kernel);

}  // namespace gdr
