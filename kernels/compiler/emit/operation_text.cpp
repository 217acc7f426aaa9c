#include "kernels/compiler/emit/operation_text.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "emulator/assembler/instruction_text.hpp"
#include "emulator/isa/table.hpp"

namespace gdr::kc {

std::string hex_bits(u128 bits, Width width) {
  if (width == Width::Short) return fmt::format("0x{:09x}", static_cast<std::uint64_t>(bits));
  return fmt::format("0x{:02x}{:016x}", static_cast<std::uint64_t>(bits >> 64),
                     static_cast<std::uint64_t>(bits));
}

std::string in_file(int address, Width width, bool vector, bool local) {
  return fmt::format("${}{}{}{}", width == Width::Long ? "l" : "", local ? "m" : "r", address,
                     vector ? "v" : "");
}

std::string in_t_file(StorageClass storage, Width width) {
  return width == Width::Long ? "$t" : storage == StorageClass::TLower ? "$tl" : "$th";
}

OperationText::OperationText(const CompiledKernel& kernel)
    : kernel_(kernel), loop_(kernel.loop), s_(kernel.schedule) {
  const auto taken = [&](const GraphVariable& v) { return v.name.starts_with(word_); };
  while (std::ranges::any_of(kernel.graph.variables, taken)) word_ += '_';
}

std::string OperationText::location(ValueId id, int copy) const {
  const MachineValue& v = loop_.value(id);
  const Placement& p = s_.placement_of(id);
  const int address = kernel_.allocation.address[index(id)][index(copy)];
  const bool local = is_local(id);
  if (v.origin == Origin::Invariant) return in_file(address, v.width, !v.scalar, local);
  if (v.origin == Origin::Accumulator || v.finishing) return in_file(address, v.width, true, local);
  if (in_t(p.storage)) return in_t_file(p.storage, v.width);
  const bool scalar = p.storage == StorageClass::Block || p.storage == StorageClass::Scalar;
  return in_file(address, v.width, !scalar, local);
}

bool OperationText::is_local(ValueId id) const {
  const MachineValue& v = loop_.value(id);
  if (v.origin == Origin::Accumulator) return v.in_local;
  return v.finishing || s_.placement_of(id).storage == StorageClass::Local;
}

std::string OperationText::operand(const Ref& r) const {
  return r.kind == Ref::Kind::Immediate ? hex_bits(r.bits, r.width) : location(r.value, 0);
}

/// Whether a reader is among the first, which read the copy in T.
bool OperationText::reads_t_copy(ValueId id, std::size_t reader) const {
  const MachineValue& v = loop_.value(id);
  const Placement& p = s_.placement_of(id);
  if (v.origin != Origin::Computed || !p.has_t_copy || v.uses.size() < 2) return false;
  std::vector<OpId> order = v.uses;
  std::ranges::stable_sort(order, {}, [&](OpId o) { return s_.time_of(o); });
  order.resize(std::min<std::size_t>(p.t_copy_readers, order.size() - 1));
  return s_.time[reader] <= s_.time_of(order.back()) &&
         std::ranges::count(order, static_cast<OpId>(reader)) > 0;
}

std::string OperationText::mask_name(MaskId mask, int copy) const {
  return fmt::format("m{}", kernel_.allocation.mask[index(mask)][index(copy)]);
}

std::string OperationText::name_of(std::int32_t variable) const {
  return name_text(kernel_.graph.variable(variable).name);
}

std::string OperationText::operation(std::size_t i, int copy) const {
  if (i >= loop_.ops.size()) return block_load(i - loop_.ops.size(), copy);
  const MachineOp& op = loop_.ops[i];
  if (op.op == Op::Bget) return load(op, copy);
  const auto input = [&](const Ref& r) {
    if (r.kind == Ref::Kind::None) return std::string();
    if (r.kind == Ref::Kind::Immediate) return " " + hex_bits(r.bits, r.width);
    return " " + (reads_t_copy(r.value, i) ? in_t_file(s_.placement_of(r.value).t_copy_storage,
                                                       loop_.value(r.value).width)
                                           : location(r.value, copy));
  };
  std::string text(info(op.op).mnemonic);
  text += ' ';
  if (op.list != none) {
    // Local memory, indexed by T.
    const MachineList& list = loop_.lists[index(op.list)];
    return text + fmt::format("$m[$t:{}..{}]", list.address, list.overflow_slot()) +
           input(op.in[1]);
  }
  if (op.out != none) {
    text += location(op.out, copy);
    const MachineValue& v = loop_.value(op.out);
    const Placement& p = s_.placement_of(op.out);
    if (v.origin == Origin::Computed && p.has_t_copy && v.uses.size() > 1)
      text += ":" + in_t_file(p.t_copy_storage, v.width);
  } else {
    text += op.width == Width::Long ? "$lnull" : "$null";
  }
  if (op.sets != none)
    text += fmt::format(":{}.{}", mask_name(op.sets, copy),
                        mask_flag_names[static_cast<std::size_t>(op.flag)]);
  if (op.table != none) {
    const MachineTable& t = loop_.tables[index(op.table)];
    const unsigned first = t.address / shorts_in(t.width);
    return text + fmt::format(" ${}m[$t:{}..{}]", t.width == Width::Long ? "l" : "", first,
                              first + t.padded - 1);
  }
  return text + input(op.in[0]) + input(op.in[1]);
}

/// A transfer of a constant or of one variable of the item.
std::string OperationText::load(const MachineOp& op, int copy) const {
  const std::string from = op.word != none ? word_name(index(op.word))
                           : kernel_.allocation.unroll > 1
                               ? fmt::format("{}@{}", name_of(loop_.value(op.out).variable), copy)
                               : name_of(loop_.value(op.out).variable);
  return fmt::format("bget {} {}", location(op.out, copy), from);
}

std::string OperationText::block_load(std::size_t b, int copy) const {
  const int address = static_cast<int>(2 * kernel_.problem.blocks[b].first_word) +
                      copy * static_cast<int>(kernel_.item.shorts);
  return fmt::format("bget $lr{}v $ls{}v", kernel_.allocation.block_address[b][index(copy)],
                     address);
}

}  // namespace gdr::kc
