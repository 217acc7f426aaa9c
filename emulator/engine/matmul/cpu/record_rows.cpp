#include "emulator/engine/matmul/cpu/record_rows.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace gdr {
namespace {

/// The factors of a row as consecutive fields of one element's record (doubles stored as longs, or
/// floats stored as shorts), if they are.
std::optional<RecordRow> record_row(const MatmulPattern& products, const LoadedProgram& loaded,
                                    std::size_t row) {
  const bool wide = products.width == Width::Long;
  const HostType host = wide ? HostType::F64 : HostType::F32;
  const MachineFormat machine = wide ? MachineFormat::FloatLong : MachineFormat::FloatShort;
  const std::vector<PeWord>& words = products.rows[row];
  for (std::uint32_t e = 0; e < loaded.program.elements; ++e) {
    const auto is = [&](const PortField& f, const PeWord& word) {
      return f.location.space == word.space && f.location.at(e) == word.address &&
             f.width == products.width && f.conversion.host == host &&
             f.conversion.machine == machine;
    };
    const auto first = std::ranges::find_if(
        loaded.targets, [&](const PortField& f) { return is(f, words.front()); });
    if (first == loaded.targets.end() || first->half_word % 2 != 0) continue;
    const auto fields =
        std::span(loaded.targets).subspan(static_cast<std::size_t>(first - loaded.targets.begin()));
    if (fields.size() < words.size()) continue;
    bool all = true;
    for (std::size_t k = 0; k < words.size(); ++k)
      all = all && is(fields[k], words[k]) &&
            fields[k].half_word == first->half_word + k * shorts_in(products.width);
    if (all) return RecordRow{e, first->half_word / 2};
  }
  return {};
}

}  // namespace

std::vector<RecordRow> record_rows(const MatmulPattern& products, const LoadedProgram& loaded,
                                   const Geometry& geometry) {
  const std::size_t pes = geometry.pes_per_block;
  const std::size_t rows = products.rows.size();
  // As many words as factors, and exactly one output per row and PE.
  if (loaded.targets.size() * loaded.program.elements != rows * products.depth ||
      products.outputs.size() != rows * pes)
    return {};
  std::vector<char> known(rows * pes);
  for (const auto& output : products.outputs)
    if (std::exchange(known[output.row * pes + output.pe], 1) != 0) return {};
  std::vector<RecordRow> found;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::optional<RecordRow> place = record_row(products, loaded, row);
    const auto is_place = [&](const RecordRow& r) {
      return r.element == place->element && r.word == place->word;
    };
    if (!place || std::ranges::any_of(found, is_place)) return {};
    found.push_back(*place);
  }
  return found;
}

}  // namespace gdr
