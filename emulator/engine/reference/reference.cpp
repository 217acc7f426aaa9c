#include "emulator/engine/reference/reference.hpp"

#include <array>

#include "emulator/engine/api/check.hpp"
#include "emulator/engine/runners/blockwise.hpp"
#include "emulator/isa/table.hpp"

namespace gdr {
namespace {

/// Results of one element of one PE. Nothing is written before all elements are computed.
struct ElementResult {
  bool enabled = true;
  LaneResult mul, alu;
  u128 moved = 0;
};

/// Base of the instruction's item-relative addresses in this iteration.
struct Bases {
  std::uint32_t source = 0, output = 0;
};

class ReferenceExecutable final : public BlockwiseExecutable {
 public:
  ReferenceExecutable(const Program& program, const Geometry& geometry) : program_(program) {
    check_program(program, geometry);
  }

  void run(BlockState& block, const BlockRun& run) const override {
    Bases bases{run.source_base, run.output_base};
    for (std::uint64_t i = 0; i < run.iterations; ++i) {
      for (const Instruction& instruction : program_.section(run.section)) {
        execute(block, instruction, bases, run.collect_flags);
      }
      bases.source += run.source_step;
      bases.output += run.output_step;
    }
  }

 private:
  static void execute(BlockState& block, const Instruction& i, const Bases& bases, bool keep_flags);

  Program program_;
};

std::uint32_t bm_address(const Operand& x, unsigned element, const Bases& bases) {
  const std::uint32_t base = x.space == Space::BmSource   ? bases.source
                             : x.space == Space::BmOutput ? bases.output
                                                          : 0;
  return base + x.at(element);
}

/// The word of an operand, at the operand's own width.
u128 read(const BlockState& block, const Operand& x, Long immediate, unsigned pe,
          unsigned element) {
  switch (x.space) {
    case Space::None:
      return 0;
    case Space::Immediate:
      return immediate.bits & bit_mask(x.width);
    case Space::PeNumber:
      return pe;
    case Space::BlockNumber:
      return block.number;
    default:
      return read_location(block, x, pe, element);
  }
}

/// Operands of the adder and the multiplier arrive as longs: a short float widens.
Long as_float(u128 word, Width width) {
  return width == Width::Long ? Long{word} : widen_float(Short{static_cast<std::uint64_t>(word)});
}

LaneResult compute(const BlockState& block, const Arithmetic& slot, unsigned pe, unsigned element,
                   Flags& flags) {
  return compute_lane(slot, read(block, slot.a, slot.immediate, pe, element),
                      read(block, slot.b, slot.immediate, pe, element), flags);
}

ElementResult read_and_compute(const BlockState& block, const Instruction& i, const Bases& bases,
                               unsigned pe, unsigned element, Flags& flags) {
  ElementResult r;
  if (i.predicate.used) {
    const bool bit = block.masks[(i.predicate.mask * max_elements + element) * block.pes + pe] != 0;
    r.enabled = bit == i.predicate.value;
  }
  Flags raised = no_flags;
  if (i.mul.used()) r.mul = compute(block, i.mul, pe, element, raised);
  if (i.alu.used()) r.alu = compute(block, i.alu, pe, element, raised);
  if (i.move.op == Op::Bget) {
    r.moved = read_bm(block, bm_address(i.move.bm, element, bases), i.move.bm.width);
  } else if (i.move.op == Op::Bput) {
    r.moved = read_location(block, i.move.pe, pe, element);
  }
  if (r.enabled) flags |= raised;
  return r;
}

/// Writes an operation's results: its location, then T, then its mask.
void commit(BlockState& block, const Arithmetic& slot, const LaneResult& outcome,
            const Operand& dst, unsigned pe, unsigned element) {
  if (dst.used()) write_location(block, dst, pe, element, outcome.word);
  if (slot.t != TTarget::None) {
    const Operand t{Space::T, slot.width, false,
                    static_cast<std::uint16_t>(slot.t == TTarget::Lower ? 1 : 0)};
    write_location(block, t, pe, element, outcome.word);
  }
  if (slot.mask.flag != MaskFlag::None) {
    block.masks[(slot.mask.mask * max_elements + element) * block.pes + pe] =
        outcome.flag ? ~std::uint64_t{0} : 0;
  }
}

/// A T-indirect destination's address is read with the operands, before anything is written.
Operand resolved(const BlockState& block, const Operand& x, unsigned pe, unsigned element) {
  if (x.space != Space::LocalByT) return x;
  const std::uint64_t t = block.t[(element * 2 + 1) * block.pes + pe];
  const std::size_t words = block.local.size() / block.pes / shorts_in(x.width);
  return {Space::Local, x.width, false, static_cast<std::uint16_t>(t % words * shorts_in(x.width))};
}

void ReferenceExecutable::execute(BlockState& block, const Instruction& i, const Bases& bases,
                                  bool keep_flags) {
  Flags flags = no_flags;
  for (unsigned pe = 0; pe < block.pes; ++pe) {
    std::array<ElementResult, max_elements> results;
    std::array<std::array<Operand, 3>, max_elements> destinations;
    for (unsigned k = 0; k < i.vlen; ++k) {
      results[k] = read_and_compute(block, i, bases, pe, k, flags);
      destinations[k] = {resolved(block, i.mul.dst, pe, k), resolved(block, i.alu.dst, pe, k),
                         resolved(block, i.move.pe, pe, k)};
    }
    for (unsigned k = 0; k < i.vlen; ++k) {
      const ElementResult& r = results[k];
      if (!r.enabled) continue;
      if (i.mul.used()) commit(block, i.mul, r.mul, destinations[k][0], pe, k);
      if (i.alu.used()) commit(block, i.alu, r.alu, destinations[k][1], pe, k);
      if (i.move.op == Op::Bget) write_location(block, destinations[k][2], pe, k, r.moved);
      if (i.move.op == Op::Bput && i.move.pe_number == pe) {
        write_bm(block, bm_address(i.move.bm, k, bases), i.move.bm.width, r.moved);
      }
    }
  }
  if (keep_flags) block.flags |= flags;
}

}  // namespace

LaneResult compute_lane(const Arithmetic& slot, u128 a, u128 b, Flags& flags) {
  const OpInfo& op = info(slot.op);
  const bool negative = slot.mask.flag == MaskFlag::Negative;
  if (op.unit == Unit::Integer) {
    const IntWord x = int_operand(a, slot.a.width, slot.width, op.signed_operands);
    const IntWord y =
        int_operand(b, slot.b.width, slot.width, op.signed_operands && !op.unsigned_count);
    const IntResult r = op.compute_int(x, y, slot.width);
    if (slot.mask.flag == MaskFlag::Carry) return {r.value, r.carry};
    return {r.value, negative ? sign_of(r.value, slot.width) : r.value == 0};
  }
  const Long r =
      op.compute_float(as_float(a, slot.a.width), as_float(b, slot.b.width), slot.width, flags);
  const u128 word = slot.width == Width::Long ? r.bits : u128{upper_half(r).bits};
  return {word, negative ? is_negative(r) : is_zero(r)};
}

std::shared_ptr<const Executable> ReferenceEngine::prepare(const Program& program,
                                                           const Geometry& geometry) const {
  return std::make_shared<ReferenceExecutable>(program, geometry);
}

}  // namespace gdr
