#include "emulator/engine/native/program/live_words.hpp"

#include <algorithm>
#include <vector>

#include "emulator/isa/ports.hpp"

namespace gdr::native {

LiveOut words_read_by_host(const Program& program, const CellMap& map) {
  LiveOut live(map);
  bool declared = false;
  for (const Variable& v : program.variables) {
    if (v.kind == VarKind::Output) declared = true;
    if (v.kind != VarKind::Result) continue;
    declared = true;
    for (unsigned e = 0; e < program.elements; ++e) {
      const std::uint32_t cell = map.cell(v.location, e);
      live.mark_cell(cell);
      if (v.location.width == Width::Long) live.mark_cell(cell + 1);
    }
  }
  if (!declared) {
    for (auto* list : {&live.cells, &live.masks}) std::ranges::fill(*list, Live(Condition{}));
  }
  return live;
}

void mark_words_read(const Program& program, Section exact, const Geometry& geometry,
                     const CellMap& map, LiveOut& live) {
  std::vector<Access> accesses;
  for (const Instruction& i : program.section(exact)) {
    for (unsigned k = 0; k < i.vlen; ++k) {
      accesses.clear();
      accesses_of_element(i, k, geometry, accesses);
      for (const Access& a : accesses) {
        if (a.what == Access::What::Mask) {
          live.masks[a.address * max_elements + k] = Condition{};
          continue;
        }
        std::uint32_t base = 0;
        if (a.what == Access::What::Local) base = map.local;
        if (a.what == Access::What::T) base = map.t + k * 2;
        if (port_of(a) == Port::BmAccess) continue;
        // Including words that it writes, since a mask may keep the old value.
        for (std::uint32_t n = 0; n < a.shorts; ++n) live.mark_cell(base + a.address + n);
      }
    }
  }
}

}  // namespace gdr::native
