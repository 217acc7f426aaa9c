#include "emulator/engine/native/translate/operand_access.hpp"

#include <algorithm>

namespace gdr::native {

Ref OperandAccess::mask(const Predicate& predicate, unsigned element) const {
  if (!predicate.used) return m_.graph.always();
  const Ref mask = m_.masks[predicate.mask * max_elements + element];
  return predicate.value ? mask : complement(mask);
}

SymbolicWord OperandAccess::read(const Operand& x, Long immediate, unsigned element) {
  const bool wide = x.width == Width::Long;
  MemoryModel& cells = m_.cells;
  switch (x.space) {
    case Space::None:
      return {zero_, zero_};
    case Space::Immediate: {
      const CellValue low = cells.constant(lower_half(immediate).bits);
      return {wide ? cells.constant(upper_half(immediate).bits) : zero_, low};
    }
    case Space::PeNumber:
    case Space::BlockNumber: {
      const WordType type = x.space == Space::PeNumber ? WordType::PeNumber : WordType::BlockNumber;
      return {zero_, cells.value(m_.graph.leaf(NodeOp::Input, {type, 0, 0}))};
    }
    case Space::LocalByT:
      return table_element(x, element);
    default: {
      const std::uint32_t cell = m_.map.cell(x, element);
      return wide ? SymbolicWord{m_.state[cell], m_.state[cell + 1]}
                  : SymbolicWord{zero_, m_.state[cell]};
    }
  }
}

/// The element of a table that T addresses.
SymbolicWord OperandAccess::table_element(const Operand& x, unsigned element) {
  const Table table{x.width, x.range_first, x.range_last};
  const auto found = std::ranges::find(m_.tables, table);
  const auto number = static_cast<std::uint32_t>(found - m_.tables.begin());
  if (found == m_.tables.end()) m_.tables.push_back(table);
  const Element at = element_at(m_.graph, m_.cells.bits(address(element)), table);
  const auto half = [&](bool lower) { return m_.cells.lookup(at.index, at.behind, number, lower); };
  if (x.width == Width::Short) return {zero_, half(false)};
  return {half(false), half(true)};
}

SymbolicWord OperandAccess::read_memory(const Operand& x, unsigned element) {
  if (x.space == Space::BmOutput) throw Unsupported("output items are read");
  const NodeOp op = x.space == Space::BmSource ? NodeOp::Source : NodeOp::Uniform;
  const std::uint32_t address = x.at(element);
  const auto touches = [&](const BmStore& p) {
    const std::uint32_t end = p.address + shorts_in(p.width);
    return address < end && p.address < address + shorts_in(x.width);
  };
  if (op == NodeOp::Uniform && std::ranges::any_of(m_.bm_stores, touches)) {
    throw Unsupported(
        "a word that a PE stored to the broadcast memory is read in the same section");
  }
  const CellValue first = m_.cells.memory(op, address);
  if (x.width == Width::Short) return {zero_, first};
  return {first, m_.cells.memory(op, address + 1)};
}

void OperandAccess::write(const Operand& dst, Width width, unsigned element, SymbolicWord word,
                          Ref enabled) {
  const std::uint32_t cell = m_.map.cell(dst, element);
  const auto store = [&](std::uint32_t at, CellValue value) {
    m_.state[at] = m_.cells.select(enabled, value, m_.state[at]);
    m_.written.push_back(at);
  };
  if (width == Width::Short) return store(cell, word.lower);
  store(cell, word.upper);
  store(cell + 1, word.lower);
}

void OperandAccess::write(const Arithmetic& slot, const SlotResult& result, unsigned element,
                          Ref enabled) {
  if (slot.dst.used() && slot.dst.space != Space::LocalByT)
    write(slot.dst, slot.width, element, result.word, enabled);
  if (slot.t != TTarget::None) {
    const auto half = static_cast<std::uint16_t>(slot.t == TTarget::Lower ? 1 : 0);
    write({Space::T, slot.width, false, half}, slot.width, element, result.word, enabled);
  }
  if (slot.mask.flag != MaskFlag::None) {
    Ref& mask = m_.masks[slot.mask.mask * max_elements + element];
    mask = m_.graph.select(enabled, result.flag, mask);
  }
}

void OperandAccess::write_memory(const Transfer& move, unsigned element, SymbolicWord word,
                                 Ref enabled) {
  if (move.bm.space != Space::Bm) throw Unsupported("a word is stored to an item");
  m_.bm_stores.push_back(
      {move.bm.at(element), move.bm.width, move.pe_number, word.upper, word.lower, enabled});
}

}  // namespace gdr::native
