// Traces: operations on rows as single steps on vectors, and their compilation to machine code.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "emulator/engine/jit/ir.hpp"
#include "emulator/engine/vector/doubles/translate.hpp"

namespace gdr::codegen {

/// How often a step is executed: once per iteration, for every vector of lanes, or for every
/// element of each vector.
enum class Level : std::uint8_t { Iteration, Lanes, Element };
constexpr unsigned level_count = 3;

using StepId = std::uint32_t;
constexpr StepId no_step = ~StepId{0};

/// An operation of the lowered IR (jit/ir.hpp) or one of its inputs.
struct Step {
  enum class Kind : std::uint8_t {
    Operation,
    Row,        ///< lanes of a row
    Broadcast,  ///< a word of the broadcast memory in all lanes
    Constant,   ///< the same bits in all lanes
    // Steps of DeviceSteps, which only a GPU has (../../gpu/loop_text.hpp):
    RoundedSum,  ///< the sum of the first two operands, rounded to 25 bits
    LongHead,    ///< h of the long h + l: the sum of all three operands, a pair and a short
    LongTail,    ///< l of the same long
  };
  Kind kind = Kind::Constant;
  Level level = Level::Iteration;
  jit::Op op = jit::Op::Load;
  std::uint8_t detail = 0;  ///< detail of the operation; Collect: a bit of DoublesFailure
  jit::Rounding rounding = jit::Rounding::Current;
  std::uint8_t memory = 0;  ///< Broadcast: of DoublesRun::memory
  /// Operands; the third one of Or is a mask: other lanes keep the first operand.
  std::array<StepId, 3> in{no_step, no_step, no_step};
  std::uint64_t bits = 0;  ///< a constant; else the offset in bytes of what is read
  bool operator==(const Step&) const = default;
};

inline bool is_sum_of_device(const Step& s) { return s.kind > Step::Kind::Constant; }

/// A row to which a value is stored: for each element, or one row for all.
struct RowStore {
  StepId value = no_step;
  std::uint32_t offset = 0;  ///< bytes in the frame
  Level level = Level::Element;
};

/// Steps in the order of their dependences, and the final values of rows. A row is not overwritten
/// before the last step that reads it.
struct Trace {
  std::vector<Step> steps;
  std::vector<RowStore> stores;
  std::uint32_t elements = 1;   ///< rows of elements are consecutive
  std::uint32_t row_bytes = 0;  ///< size of a row
};

/// Kernels that trace their steps for AVX-512, or for AVX2 and NEON; only `trace` may call them.
const DoublesKernels& tracing_kernels(Isa isa) noexcept;
/// The same for a GPU: as for AVX2, but with steps that a GPU's text has in a form of its own.
const DoublesKernels& device_tracing_kernels() noexcept;

/// Whether a tracing kernel copies words of the broadcast memory to rows.
bool is_fill(DoublesKernel kernel);

/// Traces operations translated with tracing kernels, none of which writes to the broadcast
/// memory. `live`: sorted offsets of the rows that are live after them; null: all. Nothing if the
/// operations cannot run vector by vector, because elements of a strip are accessed individually.
std::optional<Trace> trace(std::span<const DoublesOp> ops, const DoublesSection& section,
                           const std::vector<std::uint32_t>* live);
/// The same with all elements of a PE in one lane: `elements` is 1, and every operation is traced
/// once for each element. Always possible.
Trace trace_elements_together(std::span<const DoublesOp> ops, const DoublesSection& section,
                              const std::vector<std::uint32_t>* live);

// --- lowered IR

/// Base pointers of the code.
enum Base : std::uint8_t {
  base_element,  ///< rows at the current element and vectors
  base_lanes,    ///< rows at the current vectors
  base_scratch,
  base_constants,
  base_memory,  ///< this and the next two: DoublesRun::memory, once for an iteration
  base_count = base_memory + 3
};

/// Code of an iteration by loop level: `iteration` runs first; for every group of vectors, `lanes`,
/// `element` for each element, and `left`. Values that later levels use are in scratch.
struct LoopNestCode {
  jit::Block iteration, lanes, element, left;
  std::uint32_t kept = 0;  ///< vectors of scratch
};

/// How the steps of several vectors are interleaved: `window` as jit::order_for_latency has it.
struct Arrangement {
  unsigned copies = 1;
  std::size_t window = 1;
};

LoopNestCode to_ir(const Trace& trace, jit::VectorTarget target, Arrangement arrangement,
                   jit::ConstantPool& pool);

// --- machine code

/// One operation that is equivalent to the traced ones.
struct CompiledOperation {
  DoublesKernel kernel = nullptr;  ///< null: not supported on this host
  std::uint32_t scratch_bytes = 0;
  std::shared_ptr<const void> owner;  ///< owner of the code
};

/// Generates code for an instruction set of this host and rows of `lanes`. Its scratch is in the
/// frame from offset `scratch` on, a multiple of 64.
CompiledOperation assemble(const Trace& trace, Isa isa, std::uint32_t lanes, std::uint32_t scratch);

}  // namespace gdr::codegen
