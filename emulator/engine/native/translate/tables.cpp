#include "emulator/engine/native/translate/tables.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "emulator/engine/native/translate/section.hpp"

namespace gdr::native {
namespace {

constexpr auto not_of_parameters = "a table is not of parameters that Start copies";

struct AddressRange {
  std::uint32_t begin = 0, end = 0;
  bool meets(std::uint32_t first, std::uint32_t count) const noexcept {
    return first < end && begin < first + count;
  }
};

/// Whether an operand for the elements of an instruction touches a range of a memory.
bool touches(const Operand& x, unsigned elements, Space memory, AddressRange range) {
  if (x.space == Space::LocalByT && memory == Space::Local) {
    const std::uint32_t unit = shorts_in(x.width);
    return x.range_last == 0 ||
           range.meets(x.range_first * unit, (x.range_last - x.range_first + 1U) * unit);
  }
  const unsigned last = x.at(elements - 1) + shorts_in(x.width);
  return x.space == memory && range.meets(x.address, last - x.address);
}

/// Whether an instruction writes to a range of local memory.
bool changes_local(const Instruction& i, AddressRange range) {
  const auto writes = [&](const Operand& x) { return touches(x, i.vlen, Space::Local, range); };
  return (i.mul.used() && writes(i.mul.dst)) || (i.alu.used() && writes(i.alu.dst)) ||
         (i.move.op == Op::Bget && writes(i.move.pe));
}

template <typename Test>
bool any_instruction(const Program& program, Section section, Test test) {
  return std::ranges::any_of(program.section(section), test);
}

/// Whether something besides Start may set words of the table.
bool others_set(const Program& program, const Table& table) {
  const AddressRange range{table.begin(), table.end()};
  for (const Section s : {Section::Init, Section::Body, Section::End})
    if (any_instruction(program, s, [&](const Instruction& i) { return changes_local(i, range); }))
      return true;
  return std::ranges::any_of(program.variables, [&](const Variable& v) {
    return v.kind != VarKind::Result && touches(v.location, program.elements, Space::Local, range);
  });
}

/// Whether a PE may store to a short of the broadcast memory.
bool stores_to(const Program& program, std::uint32_t address) {
  constexpr Section sections[] = {Section::Init, Section::Start, Section::Body, Section::End};
  return std::ranges::any_of(sections, [&](Section s) {
    return any_instruction(program, s, [&](const Instruction& i) {
      return i.move.op == Op::Bput && touches(i.move.bm, i.vlen, Space::Bm, {address, address + 1});
    });
  });
}

}  // namespace

std::uint32_t Table::size() const noexcept { return std::bit_ceil(last - first + 1); }

Element element_at(Graph& g, Ref address, const Table& table) {
  const auto bits = [&](std::uint64_t value) {
    return g.constant(Kind::Bits, value << short_shift);
  };
  const Ref mask = bits(table.size() - 1);
  // The constant operand of an operation, and the other one.
  const auto constant_of = [&](NodeOp op) -> std::optional<std::pair<std::uint64_t, Ref>> {
    const Node& node = g[address];
    if (node.op != op) return std::nullopt;
    if (g.is_constant(node.b)) return std::pair{g[node.b].bits, node.a};
    if (g.is_constant(node.a)) return std::pair{g[node.a].bits, node.b};
    return std::nullopt;
  };
  if (table.first % table.size() != 0) {
    address = g.op(NodeOp::IntSub, Kind::Bits, address, bits(table.first));
  } else if (const auto base = constant_of(NodeOp::Or); base && (base->first & g[mask].bits) == 0) {
    address = base->second;  // the address of the table is added like that
  }
  if (const auto limit = constant_of(NodeOp::And); limit && (limit->first & ~g[mask].bits) == 0) {
    if (limit->first != g[mask].bits) return {address};
    address = limit->second;
  }
  // The last bits of i + c are those of i, and c more.
  std::uint32_t behind = 0;
  if (const auto sum = constant_of(NodeOp::IntAdd);
      sum && sum->first >> short_shift <= repeated_elements) {
    behind = static_cast<std::uint32_t>(sum->first >> short_shift);
    address = sum->second;
  }
  return {g.op(NodeOp::And, Kind::Bits, address, mask), behind};
}

std::vector<TableShort> table_contents(const Program& program, const SectionModel* start,
                                       const Table& table) {
  if (start == nullptr || others_set(program, table)) throw Unsupported(not_of_parameters);
  std::vector<TableShort> contents(std::size_t{table.size()} * table.shorts());
  bool some = false;
  for (std::uint32_t n = 0; n < table.end() - table.begin(); ++n) {
    const std::uint32_t cell = start->map.local + table.begin() + n;
    const CellValue held = start->state[cell];
    if (start->cells.holds_input(held, cell)) continue;  // as the program was loaded
    some = true;
    if (start->cells.is_constant(held)) {
      contents[n].constant = start->cells.constant_bits(held);
      continue;
    }
    contents[n].address = start->cells.uniform_word(held);
    if (!contents[n].address || stores_to(program, *contents[n].address))
      throw Unsupported(not_of_parameters);
  }
  if (!some) throw Unsupported(not_of_parameters);
  return contents;
}

}  // namespace gdr::native
