// One operation in all lanes: every operation, width, vector length and predicate.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "emulator/isa/table.hpp"
#include "emulator/selftest/case.hpp"

namespace gdr::selftest {
namespace {

constexpr unsigned instructions = 48;

/// An operation with the widths of its operands and of its result.
struct Signature {
  const OpInfo* row = nullptr;
  Width a = Width::Long, b = Width::Long, out = Width::Long;
};

/// Common properties of the instructions of a case.
struct Form : Signature {
  unsigned vlen = max_elements;
  bool predicated = false;
  bool sets_mask = false;
  bool observed = false;   ///< whether an instruction of its own reads each mask
  bool constants = false;  ///< every second instruction has a constant operand
  unsigned edges = 0;      ///< lanes whose operands are boundary words
  PairKind operands = {};
};

/// All signatures. Those of floating point occur three times: they have more code paths.
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

/// Consecutive seeds take consecutive signatures.
Form random_form(Rng& rng, std::uint64_t seed) {
  static const std::vector<Signature> signatures = all_signatures();
  Form form{signatures[seed % signatures.size()]};
  const Unit unit = form.row->unit;
  form.vlen = rng.chance(60) ? max_elements : rng.between(1, max_elements);
  form.predicated = rng.chance(25);
  form.sets_mask = unit != Unit::Multiplier && rng.chance(30);
  form.observed = form.sets_mask && rng.chance(70);
  const auto relation =
      rng.chance(40) ? Relation::Independent : static_cast<Relation>(rng.below(relation_count));
  form.operands = {random_distribution(rng), relation, rng.chance(50)};
  form.constants = rng.chance(25);
  // An undetected lane shows only if no other lane makes the engine fall back.
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

/// The n-th instruction of a form: its operands are in registers of its own, its result in local
/// memory or in a register.
Instruction instruction_of(const Form& form, unsigned n, bool to_registers) {
  constexpr std::uint32_t shorts = 2 * max_elements;
  Instruction i;
  i.vlen = static_cast<std::uint8_t>(form.vlen);
  if (form.predicated) i.predicate = {true, n % 2 == 0, static_cast<std::uint8_t>(n % 3)};
  Arithmetic& slot = form.row->unit == Unit::Multiplier ? i.mul : i.alu;
  slot.op = form.row->op;
  slot.width = form.out;
  slot.a = vector_at(Space::Register, form.a, 3 * n * shorts);
  if (form.row->operands == 2) {
    slot.b = vector_at(Space::Register, form.b, (3 * n + 1) * shorts);
  }
  slot.dst = to_registers ? vector_at(Space::Register, form.out, (3 * n + 2) * shorts)
                          : vector_at(Space::Local, form.out, n * shorts);
  if (form.sets_mask) {
    const unsigned flags = form.row->has_carry ? 3 : 2;
    slot.mask = {static_cast<MaskFlag>(1 + n % flags), static_cast<std::uint8_t>(3 + n % 5)};
  }
  return i;
}

/// Replaces an operand by a constant of the same distribution, or by a boundary word.
void draw_constant(Rng& rng, Arithmetic& slot, OperandDistribution distribution) {
  Operand& x = slot.b.used() && rng.chance(50) ? slot.b : slot.a;
  x = {Space::Immediate, x.width, false, 0, 0, 0};
  const Long word = rng.chance(40) ? boundary_word(rng) : random_word(rng, distribution);
  slot.immediate = narrow_float(word, x.width);
}

/// Inverts the bits of a result where its mask is set: the final state shows only the masks of the
/// last instructions.
Instruction observer_of(const Instruction& set) {
  Instruction i;
  i.vlen = set.vlen;
  i.predicate = {true, true, set.alu.mask.mask};
  i.alu.op = Op::Inot;
  i.alu.width = set.alu.width;
  i.alu.dst = i.alu.a = set.alu.dst;
  return i;
}

/// Draws the operands of an operation into one lane.
void draw_lane(Rng& rng, BlockState& block, const Arithmetic& slot, unsigned pe, unsigned element,
               const PairKind& kind) {
  const WordPair pair = random_pair(rng, kind);
  const auto put = [&](const Operand& x, Long word) {
    if (!x.used() || x.space == Space::Immediate) return;
    write_location(block, x, pe, element, narrow_float(word, x.width).bits);
  };
  put(slot.a, pair.a);
  put(slot.b, pair.b);
}

void draw_operands(Rng& rng, BlockState& block, const Arithmetic& slot, unsigned vlen,
                   const PairKind& kind) {
  for (unsigned pe = 0; pe < block.pes; ++pe) {
    for (unsigned element = 0; element < vlen; ++element) {
      draw_lane(rng, block, slot, pe, element, kind);
    }
  }
}

/// Boundary words as operands of one random lane.
void draw_edge(Rng& rng, BlockState& block, const Arithmetic& slot, unsigned vlen) {
  const PairKind kind{OperandDistribution::Edges, static_cast<Relation>(rng.below(relation_count)),
                      false};
  const unsigned pe = rng.below(block.pes), element = rng.below(vlen);
  draw_lane(rng, block, slot, pe, element, kind);
}

std::string form_text(const Form& form) {
  const auto letter = [](Width width) { return width == Width::Long ? 'l' : 's'; };
  return fmt::format("{} {}{}{}, vlen {}{}{}{}{}, {} numbers, {}", form.row->mnemonic,
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
    test.program.section(Section::Body).push_back(i);
    if (form.observed) test.program.section(Section::Body).push_back(observer_of(i));
    draw_operands(rng, test.state, slot, i.vlen, form.operands);
    if (n < form.edges) draw_edge(rng, test.state, slot, i.vlen);
  }
  return test;
}

}  // namespace gdr::selftest
