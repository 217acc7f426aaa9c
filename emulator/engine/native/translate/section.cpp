#include "emulator/engine/native/translate/section.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "emulator/engine/api/check.hpp"
#include "emulator/engine/native/translate/integer_operations.hpp"
#include "emulator/engine/native/translate/list_appends.hpp"
#include "emulator/engine/native/translate/number_operations.hpp"
#include "emulator/engine/native/translate/operand_access.hpp"
#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"

namespace gdr::native {
namespace {

std::string place_of(const Program& program, Section section, std::size_t n) {
  std::string text = "instruction " + std::to_string(n);
  const auto& lines = program.lines[static_cast<unsigned>(section)];
  if (n < lines.size() && lines[n].line != 0) {
    text += ", ";
    if (lines[n].file < program.files.size()) text += program.files[lines[n].file] + ":";
    text += std::to_string(lines[n].line);
  }
  return text;
}

bool is_at_t(const Operand& x) { return x.space == Space::LocalByT; }

/// Whether the only use of T as an address is the destination of a short in the adder's slot.
bool stores_through_t(const Instruction& i) {
  return is_at_t(i.alu.dst) && i.alu.width == Width::Short && i.alu.dst.range_last != 0 &&
         !is_at_t(i.alu.a) && !is_at_t(i.alu.b) && !is_at_t(i.mul.a) && !is_at_t(i.mul.b) &&
         !is_at_t(i.mul.dst) && !is_at_t(i.move.pe);
}

/// Throws Unsupported unless all uses of T as an address are operands that are read, in a range.
void check_table_reads(const Instruction& i) {
  if (is_at_t(i.alu.dst) || is_at_t(i.mul.dst) || is_at_t(i.move.pe))
    throw Unsupported("local memory is written through T, and not to a list");
  for (const Operand* x : {&i.alu.a, &i.alu.b, &i.mul.a, &i.mul.b})
    if (is_at_t(*x) && x->range_last == 0)
      throw Unsupported("local memory is read through T, at any address");
}

/// Translates the instructions of a section, in their order.
class InstructionTranslator {
 public:
  InstructionTranslator(const Program& program, SectionModel& model)
      : cells_(model.cells),
        operands_(model),
        numbers_(program, model),
        shorts_(model.graph, model.cells),
        longs_(model.graph, model.cells),
        lists_(model) {}

  /// All elements are read before any is written.
  void translate(const Instruction& i) {
    const bool appends = stores_through_t(i);
    if (uses_t_address(i) && !appends) check_table_reads(i);
    std::array<ElementResult, max_elements> results{};
    for (unsigned k = 0; k < i.vlen; ++k) results[k] = computed(i, k);
    for (unsigned k = 0; k < i.vlen; ++k) write(i, k, results[k], appends);
  }

  void finish_lists(Section section) { lists_.finish(section); }

 private:
  /// What an instruction computes for one element, where a mask is enabled.
  struct ElementResult {
    Ref enabled;
    SlotResult mul, alu;
    SymbolicWord moved;
    CellValue address;  ///< lower half of T before the instruction
  };

  ElementResult computed(const Instruction& i, unsigned k) {
    ElementResult r{};
    r.enabled = operands_.mask(i.predicate, k);
    if (i.mul.used()) r.mul = computed(i.mul, k);
    if (i.alu.used()) r.alu = computed(i.alu, k);
    if (i.move.op == Op::Bget) r.moved = operands_.read_memory(i.move.bm, k);
    if (i.move.op == Op::Bput) r.moved = operands_.read(i.move.pe, {}, k);
    r.address = operands_.address(k);
    return r;
  }

  SlotResult computed(const Arithmetic& slot, unsigned element) {
    const SymbolicWord a = operands_.read(slot.a, slot.immediate, element);
    const SymbolicWord b = operands_.read(slot.b, slot.immediate, element);
    if (info(slot.op).unit != Unit::Integer) return numbers_.result(slot, a, b);
    return slot.width == Width::Short ? shorts_.result(slot, a, b) : longs_.result(slot, a, b);
  }

  void write(const Instruction& i, unsigned k, const ElementResult& r, bool appends) {
    if (i.mul.used()) operands_.write(i.mul, r.mul, k, r.enabled);
    if (i.alu.used()) operands_.write(i.alu, r.alu, k, r.enabled);
    if (appends)
      lists_.store({k, i.alu.dst.range_first, i.alu.dst.range_last, cells_.bits(r.address),
                    cells_.bits(r.alu.word.lower), r.enabled});
    if (i.move.op == Op::Bget) operands_.write(i.move.pe, i.move.pe.width, k, r.moved, r.enabled);
    if (i.move.op == Op::Bput) operands_.write_memory(i.move, k, r.moved, r.enabled);
  }

  MemoryModel& cells_;
  OperandAccess operands_;
  NumberOperations numbers_;
  ShortIntegers shorts_;
  LongIntegers longs_;
  ListAppends lists_;
};

}  // namespace

Ref SectionModel::final_value(LeafKey key) {
  switch (key.type) {
    case WordType::Long:
      return cells.long_number(state[key.place], state[key.place + 1]);
    case WordType::Short:
      return cells.short_number(state[key.place]);
    case WordType::Bits:
      return cells.bits(state[key.place]);
    case WordType::Mask:
      return masks[key.place];
    default:
      return graph.leaf(NodeOp::Input, key);
  }
}

void translate(const Program& program, Section section, SectionModel& m) {
  m.elements = program.elements;
  for (std::uint32_t cell = 0; cell < m.map.count; ++cell) m.state.push_back(m.cells.input(cell));
  for (std::uint32_t mask = 0; mask < CellMap::masks; ++mask) {
    m.masks.push_back(m.graph.leaf(NodeOp::Input, {WordType::Mask, mask, 0}));
  }
  InstructionTranslator translator(program, m);
  const auto& instructions = program.section(section);
  for (std::size_t n = 0; n < instructions.size(); ++n) {
    try {
      const Instruction& i = instructions[n];
      translator.translate(i);
      // The items of a run are taken in before the first iteration.
      if (section == Section::Body && i.move.op == Op::Bput && !is_fixed_transfer(program, i))
        throw Unsupported("a word is stored to the halves of the broadcast memory");
    } catch (const Unsupported& e) {
      throw Unsupported(place_of(program, section, n) + ": " + e.what());
    }
  }
  std::sort(m.written.begin(), m.written.end());
  m.written.erase(std::unique(m.written.begin(), m.written.end()), m.written.end());
  translator.finish_lists(section);
}

}  // namespace gdr::native
