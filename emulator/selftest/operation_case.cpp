// One operation in all lanes, many times over: every operation, width, vector length and predicate.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "emulator/isa/table.hpp"
#include "emulator/selftest/generators.hpp"

namespace gdr::selftest {
namespace {

constexpr unsigned instructions = 48;

/// What the instructions of a case have in common.
struct Form {
  Op op = Op::Fadd;
  Width a = Width::Long, b = Width::Long, out = Width::Long;
  unsigned vlen = max_elements;
  bool predicated = false;
  bool sets_mask = false;
  bool observed = false;   ///< each mask is looked at by an instruction of its own
  bool constants = false;  ///< an operand of every second instruction is one
  unsigned edges = 0;      ///< lanes of the case whose operands are numbers at an edge
  PairKind operands;
};

/// An operation with the widths of its operands and of its result.
struct Signature {
  const OpInfo* row;
  Width a, b, out;
};

/// All there are. Those of floating point stand there three times: they have many more ways to go
/// wrong.
std::vector<Signature> all_signatures() {
  constexpr std::array widths{Width::Long, Width::Short};
  std::vector<Signature> list;
  for (const OpInfo& row : instruction_table()) {
    if (row.op == Op::None || row.unit == Unit::Transfer) continue;
    for (unsigned copy = row.unit == Unit::Integer ? 2 : 0; copy < 3; ++copy) {
      for (const Width out : widths) {
        for (const Width a : widths) {
          list.push_back({&row, a, Width::Long, out});
          if (row.operands == 2) list.push_back({&row, a, Width::Short, out});
        }
      }
    }
  }
  return list;
}

/// Seeds that follow one another go through all signatures.
Form random_form(Rng& rng, std::uint64_t seed) {
  static const std::vector<Signature> signatures = all_signatures();
  const Signature& chosen = signatures[seed % signatures.size()];
  const OpInfo& row = *chosen.row;
  Form form;
  form.op = row.op;
  form.a = chosen.a;
  form.b = chosen.b;
  form.out = chosen.out;
  form.vlen = rng.chance(60) ? max_elements : rng.between(1, max_elements);
  form.predicated = rng.chance(25);
  form.sets_mask = row.unit != Unit::Multiplier && rng.chance(30);
  form.observed = form.sets_mask && rng.chance(70);
  const auto relation =
      rng.chance(40) ? Relation::Independent : static_cast<Relation>(rng.below(relation_count));
  form.operands = {random_distribution(rng), relation, rng.chance(50)};
  form.constants = rng.chance(25);
  // One lane that is not noticed shows only where no other lane makes the engine look.
  if (rng.chance(30)) {
    form.edges = rng.between(1, 3);
    form.operands.distribution =
        rng.pick({OperandDistribution::Moderate, OperandDistribution::Sparse,
                  OperandDistribution::Doubles, OperandDistribution::Zeros});
  }
  return form;
}

Operand vector_at(Space space, Width width, std::uint32_t address) {
  return {space, width, true, static_cast<std::uint16_t>(address), 0, 0};
}

/// The n-th instruction of a form: its operands in registers of its own, its result in local
/// memory, where a real program may have it, too; or in a register.
Instruction instruction_of(const Form& form, unsigned n, bool to_registers) {
  constexpr std::uint32_t shorts = 2 * max_elements;
  Instruction i;
  i.vlen = static_cast<std::uint8_t>(form.vlen);
  if (form.predicated) i.predicate = {true, n % 2 == 0, static_cast<std::uint8_t>(n % 3)};
  Arithmetic& slot = info(form.op).unit == Unit::Multiplier ? i.mul : i.alu;
  slot.op = form.op;
  slot.width = form.out;
  slot.a = vector_at(Space::Register, form.a, 3 * n * shorts);
  if (info(form.op).operands == 2) {
    slot.b = vector_at(Space::Register, form.b, (3 * n + 1) * shorts);
  }
  slot.dst = to_registers ? vector_at(Space::Register, form.out, (3 * n + 2) * shorts)
                          : vector_at(Space::Local, form.out, n * shorts);
  if (form.sets_mask) {
    const unsigned flags = info(form.op).has_carry ? 3 : 2;
    slot.mask = {static_cast<MaskFlag>(1 + n % flags), static_cast<std::uint8_t>(3 + n % 5)};
  }
  return i;
}

/// Puts a constant in the place of an operand: of the same numbers, or one at an edge.
void draw_constant(Rng& rng, Arithmetic& slot, OperandDistribution distribution) {
  Operand& x = slot.b.used() && rng.chance(50) ? slot.b : slot.a;
  x = {Space::Immediate, x.width, false, 0, 0, 0};
  const Long word = rng.chance(40) ? boundary_word(rng) : random_word(rng, distribution);
  slot.immediate = x.width == Width::Long ? word : Long{upper_half(word).bits};
}

/// Turns over the bits of a result where its flag says so: what masks hold at the end is only what
/// the last instructions set.
Instruction observer_of(const Instruction& set) {
  Instruction i;
  i.vlen = set.vlen;
  i.predicate = {true, true, set.alu.mask.mask};
  i.alu.op = Op::Inot;
  i.alu.width = set.alu.width;
  i.alu.dst = i.alu.a = set.alu.dst;
  return i;
}

/// Draws the operands of an instruction into the lanes of all PEs.
void draw_operands(Rng& rng, BlockState& block, const Arithmetic& slot, unsigned vlen,
                   const PairKind& kind) {
  const auto put = [&](const Operand& x, Long word, unsigned pe, unsigned element) {
    if (!x.used() || x.space == Space::Immediate) return;
    write_location(block, x, pe, element,
                   x.width == Width::Long ? word.bits : u128{upper_half(word).bits});
  };
  for (unsigned pe = 0; pe < block.pes; ++pe) {
    for (unsigned element = 0; element < vlen; ++element) {
      const WordPair pair = random_pair(rng, kind);
      put(slot.a, pair.a, pe, element);
      put(slot.b, pair.b, pe, element);
    }
  }
}

/// The same of one lane of an instruction, at an edge.
void draw_edge(Rng& rng, BlockState& block, const Arithmetic& slot, unsigned vlen) {
  const PairKind kind{OperandDistribution::Edges, static_cast<Relation>(rng.below(relation_count)),
                      false};
  const unsigned pe = rng.below(block.pes), element = rng.below(vlen);
  const WordPair pair = random_pair(rng, kind);
  const auto put = [&](const Operand& x, Long word) {
    if (!x.used() || x.space == Space::Immediate) return;
    write_location(block, x, pe, element,
                   x.width == Width::Long ? word.bits : u128{upper_half(word).bits});
  };
  put(slot.a, pair.a);
  put(slot.b, pair.b);
}

std::string form_text(const Form& form) {
  const auto letter = [](Width width) { return width == Width::Long ? 'l' : 's'; };
  return fmt::format("{} {}{}{}, vlen {}{}{}{}{}, {} numbers, {}", info(form.op).mnemonic,
                     letter(form.out), letter(form.a), letter(form.b), form.vlen,
                     form.predicated ? ", predicated" : "", form.sets_mask ? ", mask set" : "",
                     form.constants ? ", constants" : "", form.edges > 0 ? ", some at edges" : "",
                     distribution_name(form.operands.distribution),
                     relation_name(form.operands.relation));
}

}  // namespace

Case operation_case(std::uint64_t seed) {
  Rng rng(seed);
  const Form form = random_form(rng, seed);
  const bool to_registers = rng.chance(50);
  Case test;
  test.what = form_text(form);
  test.geometry.blocks = 1;
  test.geometry.pes_per_block = rng.chance(80) ? 32 : rng.pick({1U, 3U, 8U, 40U});
  test.geometry.register_words = 3 * instructions * max_elements;
  test.geometry.local_words = instructions * max_elements;
  test.geometry.broadcast_words = 1;
  test.run.collect_flags = rng.chance(15);
  test.program.name = "operation";
  test.state = empty_block(test.geometry);
  for (auto& mask : test.state.masks) mask = rng.chance(50) ? ~std::uint64_t{0} : 0;
  for (unsigned n = 0; n < instructions; ++n) {
    Instruction i = instruction_of(form, n, to_registers);
    Arithmetic& slot = i.mul.used() ? i.mul : i.alu;
    if (form.constants && n % 2 == 0) draw_constant(rng, slot, form.operands.distribution);
    append(test.program, Section::Body, i);
    if (form.observed) append(test.program, Section::Body, observer_of(i));
    draw_operands(rng, test.state, slot, i.vlen, form.operands);
    if (n < form.edges) draw_edge(rng, test.state, slot, i.vlen);
  }
  return test;
}

}  // namespace gdr::selftest
