#include "emulator/isa/ports.hpp"

#include <algorithm>
#include <optional>

namespace gdr {
namespace {

enum SlotNumber : std::uint8_t { multiplier = 0, adder = 1, transfer = 2, predicate = 3 };

std::optional<Access::What> memory_of(Space space) noexcept {
  switch (space) {
    case Space::Register:
      return Access::What::Register;
    case Space::Local:
    case Space::LocalByT:
      return Access::What::Local;
    case Space::T:
      return Access::What::T;
    case Space::Bm:
      return Access::What::Bm;
    case Space::BmSource:
      return Access::What::BmSource;
    case Space::BmOutput:
      return Access::What::BmOutput;
    default:
      return std::nullopt;
  }
}

/// Collects the accesses of one element, listing what is read in common once.
class Collector {
 public:
  Collector(unsigned element, const Geometry& geometry, std::vector<Access>& out)
      : element_(element), geometry_(geometry), out_(out) {}

  void operand(const Operand& x, bool write, std::uint8_t slot) {
    const auto what = memory_of(x.space);
    if (!what) return;
    if (x.space != Space::LocalByT) {
      add({*what, write, slot, x.at(element_), shorts_in(x.width)});
      return;
    }
    add({Access::What::T, false, slot, 0, 2});
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
    // The address of a T-indirect destination is read, too.
    if (op.dst.space == Space::LocalByT) add({Access::What::T, false, slot, 0, 2});
  }

  void writes(const Arithmetic& op, std::uint8_t slot) {
    if (op.dst.space == Space::LocalByT) {
      local_by_t_write(op.dst, slot);
    } else {
      operand(op.dst, true, slot);
    }
    if (op.t != TTarget::None) {
      const bool whole = op.t == TTarget::Whole;
      add({Access::What::T, true, slot, op.t == TTarget::Lower ? 1U : 0U, whole ? 2U : 1U});
    }
    if (op.mask.flag != MaskFlag::None) {
      add({Access::What::Mask, true, slot, op.mask.mask, 1});
    }
  }

  void local_by_t_write(const Operand& x, std::uint8_t slot) {
    const unsigned unit = shorts_in(x.width);
    const bool ranged = x.range_last != 0;
    add({Access::What::Local, true, slot, ranged ? x.range_first * unit : 0,
         ranged ? (x.range_last - x.range_first + 1U) * unit : geometry_.local_words * 2});
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

/// Shorts that a memory has, or 0 where the geometry sets no limit.
std::uint32_t size_of(Access::What what, const Geometry& geometry) noexcept {
  switch (what) {
    case Access::What::Register:
      return geometry.register_words * 2;
    case Access::What::Local:
      return geometry.local_words * 2;
    case Access::What::Bm:
    case Access::What::BmSource:
    case Access::What::BmOutput:
      return geometry.broadcast_words * 2;
    default:
      return 0;
  }
}

constexpr std::array<std::string_view, 7> memory_names{
    "register file",    "local memory",     "T",    "broadcast memory",
    "broadcast memory", "broadcast memory", "masks"};

std::string check_element(const std::vector<Access>& accesses, unsigned stride,
                          const Geometry& geometry) {
  std::array<unsigned, port_count> used{};
  for (const Access& access : accesses) {
    const std::uint32_t size = size_of(access.what, geometry);
    if (size != 0 && access.address + access.shorts > size) {
      return "address " + std::to_string(access.address) + " lies outside the " +
             std::string(memory_names[static_cast<std::size_t>(access.what)]) + " of " +
             std::to_string(size) + " shorts";
    }
    if (access.what != Access::What::Mask) ++used[static_cast<std::size_t>(port_of(access))];
  }
  for (std::size_t port = 0; port < port_count; ++port) {
    const unsigned limit = port_limits[port] * stride;
    if (used[port] > limit) {
      return std::string(port_name(static_cast<Port>(port))) + ": " + std::to_string(used[port]) +
             " accesses where " + std::to_string(limit) + " are possible";
    }
  }
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    for (std::size_t j = i + 1; j < accesses.size(); ++j) {
      if (accesses[i].write && accesses[j].write && overlap(accesses[i], accesses[j])) {
        return "two results go to the same place";
      }
    }
  }
  return {};
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

bool overlap(const Access& a, const Access& b) noexcept {
  return a.what == b.what && a.address < b.address + b.shorts && b.address < a.address + a.shorts;
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
  if (i.move.op == Op::Bget) {
    collect.operand(i.move.bm, false, transfer);
    if (i.move.pe.space == Space::LocalByT) collect.add({Access::What::T, false, transfer, 0, 2});
  } else if (i.move.op == Op::Bput) {
    collect.operand(i.move.pe, false, transfer);
  }
  collect.writes(i.mul, multiplier);
  collect.writes(i.alu, adder);
  if (i.move.op == Op::Bget) {
    if (i.move.pe.space == Space::LocalByT) {
      collect.local_by_t_write(i.move.pe, transfer);
    } else {
      collect.operand(i.move.pe, true, transfer);
    }
  } else if (i.move.op == Op::Bput) {
    collect.operand(i.move.bm, true, transfer);
  }
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
