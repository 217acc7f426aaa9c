#include "emulator/isa/ports.hpp"

#include <algorithm>

namespace gdr {
namespace {

enum SlotNumber : std::uint8_t { multiplier = 0, adder = 1, transfer = 2, predicate = 3 };

/// The memory that operands of a space access, by Space.
using What = Access::What;
constexpr std::array<std::optional<What>, 11> accessed{
    std::nullopt, What::Register, What::Local, What::Local,    What::T,       std::nullopt,
    std::nullopt, std::nullopt,   What::Bm,    What::BmSource, What::BmOutput};

/// Collects the accesses of one element, common reads once.
class Collector {
 public:
  Collector(unsigned element, const Geometry& geometry, std::vector<Access>& out)
      : element_(element), geometry_(geometry), out_(out) {}

  void operand(const Operand& x, bool write, std::uint8_t slot) {
    const auto what = accessed[static_cast<std::size_t>(x.space)];
    if (!what) return;
    if (x.space != Space::LocalByT) {
      add({*what, write, slot, x.at(element_), shorts_in(x.width)});
      return;
    }
    address_read(x, slot);
    const unsigned unit = shorts_in(x.width);
    if (x.range_last == 0) {
      add({*what, write, slot, 0, geometry_.local_words * 2});
    } else {
      add({*what, write, slot, x.range_first * unit, (x.range_last - x.range_first + 1U) * unit});
    }
  }

  void reads(const Arithmetic& op, std::uint8_t slot) {
    operand(op.a, false, slot);
    operand(op.b, false, slot);
    address_read(op.dst, slot);
  }

  /// The address of a T-indirect operand is read, also that of a destination.
  void address_read(const Operand& x, std::uint8_t slot) {
    if (x.space == Space::LocalByT) add({Access::What::T, false, slot, 0, 2});
  }

  void writes(const Arithmetic& op, std::uint8_t slot) {
    operand(op.dst, true, slot);
    if (op.t != TTarget::None) {
      const bool whole = op.t == TTarget::Whole;
      add({Access::What::T, true, slot, op.t == TTarget::Lower ? 1U : 0U, whole ? 2U : 1U});
    }
    if (op.mask.flag != MaskFlag::None) {
      add({Access::What::Mask, true, slot, op.mask.mask, 1});
    }
  }

  void add(const Access& access) {
    const bool seen = !access.write && std::any_of(out_.begin(), out_.end(), [&](const Access& a) {
      return !a.write && a.what == access.what && a.address == access.address &&
             a.shorts == access.shorts;
    });
    if (!seen) out_.push_back(access);
  }

 private:
  unsigned element_;
  const Geometry& geometry_;
  std::vector<Access>& out_;
};

/// Whether two accesses touch a short in common.
bool overlap(const Access& a, const Access& b) noexcept {
  return a.what == b.what && a.address < b.address + b.shorts && b.address < a.address + a.shorts;
}

std::string check_element(const std::vector<Access>& accesses, unsigned stride,
                          const Geometry& geometry) {
  // In the order of Access::What.
  constexpr std::array spaces{Space::Register, Space::Local,    Space::T,   Space::Bm,
                              Space::BmSource, Space::BmOutput, Space::None};
  for (const Access& access : accesses) {
    const MemorySize memory = memory_of(spaces[static_cast<std::size_t>(access.what)], geometry);
    if (memory.shorts == 0 || access.address + access.shorts <= memory.shorts) continue;
    return "address " + std::to_string(access.address) + " lies outside the " +
           std::string(memory.name) + " of " + std::to_string(memory.shorts) + " shorts";
  }
  const auto conflict = find_conflict(accesses, stride);
  if (!conflict) return {};
  if (!conflict->port) return "two results go to the same place";
  return std::string(port_name(*conflict->port)) + ": " + std::to_string(conflict->used) +
         " accesses where " + std::to_string(conflict->limit) + " are possible";
}

}  // namespace

Port port_of(const Access& access) noexcept {
  switch (access.what) {
    case Access::What::Register:
      return access.write ? Port::RegisterWrite : Port::RegisterRead;
    case Access::What::T:
      return access.write ? Port::TWrite : Port::TRead;
    case Access::What::Local:
      return Port::LocalAccess;
    default:
      return Port::BmAccess;
  }
}

MemorySize memory_of(Space space, const Geometry& geometry) noexcept {
  if (space == Space::Register) return {"register file", geometry.register_words * 2};
  if (space == Space::Local) return {"local memory", geometry.local_words * 2};
  if (in_broadcast_memory(space)) return {"broadcast memory", geometry.broadcast_words * 2};
  return {"", 0};
}

bool has_duplicate_write(const std::vector<Access>& accesses) noexcept {
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    for (std::size_t j = i + 1; accesses[i].write && j < accesses.size(); ++j) {
      if (accesses[j].write && overlap(accesses[i], accesses[j])) return true;
    }
  }
  return false;
}

std::optional<AccessConflict> find_conflict(const std::vector<Access>& accesses, unsigned stride) {
  std::array<unsigned, port_count> used{};
  unsigned writes = 0;
  for (const Access& access : accesses) {
    if (access.what != Access::What::Mask) ++used[static_cast<std::size_t>(port_of(access))];
    writes += access.write ? 1 : 0;
  }
  for (std::size_t port = 0; port < port_count; ++port) {
    const unsigned limit = port_limits[port] * stride;
    if (used[port] > limit) return AccessConflict{static_cast<Port>(port), used[port], limit};
  }
  if (writes > 1 && has_duplicate_write(accesses)) return AccessConflict{};
  return std::nullopt;
}

std::string_view port_name(Port port) noexcept {
  constexpr std::array<std::string_view, port_count> names{"register file reads",
                                                           "register file writes",
                                                           "local memory accesses",
                                                           "T reads",
                                                           "T writes",
                                                           "broadcast memory accesses"};
  return names[static_cast<std::size_t>(port)];
}

void accesses_of_element(const Instruction& i, unsigned element, const Geometry& geometry,
                         std::vector<Access>& out) {
  out.clear();
  Collector collect(element, geometry, out);
  if (i.predicate.used) collect.add({Access::What::Mask, false, predicate, i.predicate.mask, 1});
  collect.reads(i.mul, multiplier);
  collect.reads(i.alu, adder);
  const bool get = i.move.op == Op::Bget;
  collect.operand(get ? i.move.bm : i.move.pe, false, transfer);
  if (get) collect.address_read(i.move.pe, transfer);
  collect.writes(i.mul, multiplier);
  collect.writes(i.alu, adder);
  collect.operand(get ? i.move.pe : i.move.bm, true, transfer);
}

std::array<unsigned, port_count> port_accesses(const Instruction& instruction,
                                               const Geometry& geometry) {
  std::vector<Access> accesses;
  accesses_of_element(instruction, 0, geometry, accesses);
  std::array<unsigned, port_count> used{};
  for (const Access& a : accesses)
    if (a.what != Access::What::Mask) ++used[static_cast<std::size_t>(port_of(a))];
  return used;
}

std::string check_ports(const Instruction& i, const Geometry& geometry) {
  if (i.move.op == Op::Bput && i.move.pe_number >= geometry.pes_per_block) {
    return "a block has " + std::to_string(geometry.pes_per_block) + " PEs; there is no PE " +
           std::to_string(i.move.pe_number);
  }
  std::vector<Access> accesses;
  accesses.reserve(16);
  for (unsigned element = 0; element < i.vlen; ++element) {
    accesses_of_element(i, element, geometry, accesses);
    if (auto why = check_element(accesses, i.stride(), geometry); !why.empty()) return why;
  }
  return {};
}

}  // namespace gdr
