// Checks of port limits and memory sizes of an instruction.
#include <algorithm>

#include "emulator/assembler/front/instruction.hpp"
#include "emulator/assembler/front/location.hpp"

namespace gdr::assembly {
namespace {

bool uses_port(const Operand& x, bool write, Port port) noexcept {
  switch (x.space) {
    case Space::Register:
      return port == (write ? Port::RegisterWrite : Port::RegisterRead);
    case Space::Local:
      return port == Port::LocalAccess;
    case Space::LocalByT:
      return port == Port::LocalAccess || port == Port::TRead;
    case Space::T:
      return port == (write ? Port::TWrite : Port::TRead);
    case Space::Bm:
    case Space::BmSource:
    case Space::BmOutput:
      return port == Port::BmAccess;
    default:
      return false;
  }
}

bool port_error(Assembly& a, const InstructionText& text, Port port, unsigned used, unsigned limit,
                unsigned element, unsigned stride) {
  std::string accesses;
  const OperandSpan* last = nullptr;
  for (unsigned i = 0; i < text.count; ++i) {
    const OperandSpan& x = text.operands[i];
    if (!uses_port(x.operand, x.write, port)) continue;
    accesses += accesses.empty() ? "" : ", ";
    accesses += (x.write ? "writes " : "reads ") + in_quotes(x.span.text());
    if (last == nullptr || x.span.begin > last->span.begin) last = &x;
  }
  std::string message = std::string(port_name(port)) + ": " + std::to_string(used) + " in " +
                        (stride == 2 ? "the two clocks of a dmul element" : "one clock") +
                        ", where " + std::to_string(limit) +
                        (limit == 1 ? " is possible" : " are possible");
  if (element != 0) message += " (element " + std::to_string(element) + ")";
  a.report.error(
      Code::PortLimit, last != nullptr ? last->span : text.whole, std::move(message),
      std::move(accesses),
      "move one of the operations to another instruction, or an operand to another memory");
  return false;
}

bool duplicate_write_error(Assembly& a, const InstructionText& text, unsigned element) {
  std::string message = "two operations of this instruction write the same location";
  if (element != 0) message += " (element " + std::to_string(element) + ")";
  a.report.error(Code::DuplicateWrite, text.whole, std::move(message), {},
                 "choose another destination for one of them");
  return false;
}

bool check_element(Assembly& a, const InstructionText& text, unsigned element) {
  const std::vector<Access>& accesses = a.accesses.lists[element];
  std::array<unsigned, port_count> used{};
  unsigned writes = 0;
  for (const Access& access : accesses) {
    if (access.what != Access::What::Mask) ++used[static_cast<std::size_t>(port_of(access))];
    writes += access.write ? 1 : 0;
  }
  for (std::size_t port = 0; port < port_count; ++port) {
    const unsigned limit = port_limits[port] * a.accesses.stride;
    if (used[port] > limit) {
      return port_error(a, text, static_cast<Port>(port), used[port], limit, element,
                        a.accesses.stride);
    }
  }
  if (writes < 2) return true;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    for (std::size_t j = i + 1; accesses[i].write && j < accesses.size(); ++j) {
      if (overlap(accesses[i], accesses[j])) return duplicate_write_error(a, text, element);
    }
  }
  return true;
}

struct Memory {
  Code code;
  const char* name;
  std::uint32_t shorts;
};

/// Check that an operand with all its elements is inside its memory.
bool check_extent(Assembly& a, const OperandSpan& x, unsigned vlen) {
  const Geometry& g = a.options.geometry;
  Memory memory{};
  switch (x.operand.space) {
    case Space::Register:
      memory = {Code::RegisterFile, "register file", g.register_words * 2};
      break;
    case Space::Local:
      memory = {Code::LocalMemory, "local memory", g.local_words * 2};
      break;
    case Space::Bm:
    case Space::BmSource:
    case Space::BmOutput:
      memory = {Code::BroadcastMemory, "broadcast memory", g.broadcast_words * 2};
      break;
    default:
      return true;
  }
  const unsigned need = x.operand.at(vlen - 1) + shorts_in(x.operand.width);
  if (need <= memory.shorts) return true;
  a.report.error(
      memory.code, x.span, in_quotes(x.span.text()) + " is outside the " + memory.name,
      "needs " + std::to_string(need) + " shorts, available: " + std::to_string(memory.shorts),
      x.operand.vector
          ? "a vector needs an address for each of its " + std::to_string(vlen) + " elements"
          : "");
  return false;
}

/// Record which part of the fixed broadcast memory and of the group a transfer accesses; checked
/// once the layout is known.
void record_extent(Assembly& a, const OperandSpan& x, unsigned vlen, unsigned item) {
  const unsigned need = x.operand.at(vlen - 1) + shorts_in(x.operand.width);
  if (x.operand.space == Space::Bm) {
    std::uint32_t& fixed = a.unchecked ? a.layout.fixed_extent : a.layout.fixed_need;
    fixed = std::max(fixed, need);
  }
  const bool source = x.operand.space == Space::BmSource;
  if (!source && x.operand.space != Space::BmOutput) return;
  if (x.operand.width == Width::Long)
    (source ? a.layout.long_in_item : a.layout.long_in_output) = true;
  std::vector<Extent>& reach = source ? a.source_extent : a.output_extent;
  if (reach.size() <= item) reach.resize(item + 1U);
  if (need > reach[item].need) reach[item] = {need, a.report.span_of(x.span)};
}

}  // namespace

bool check_instruction(Assembly& a, const Instruction& instruction, const InstructionText& text,
                       unsigned item) {
  for (unsigned i = 0; i < text.count; ++i) {
    if (!a.unchecked && !check_extent(a, text.operands[i], instruction.vlen)) return false;
    if (text.operands[i].slot == 2) record_extent(a, text.operands[i], instruction.vlen, item);
  }
  if (a.unchecked) return true;
  a.accesses.collect(instruction, a.options.geometry);
  for (unsigned k = 0; k < instruction.vlen; ++k) {
    if (!check_element(a, text, k)) return false;
  }
  return true;
}

}  // namespace gdr::assembly
