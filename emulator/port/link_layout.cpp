#include <array>

#include "emulator/port/partition.hpp"

namespace gdr {
namespace {

/// Appends a field and moves `half_word` behind it. What is wider than a float begins a word.
void append(std::vector<LinkLayout::Field>& fields, std::uint32_t variable, const Variable& v,
            std::uint32_t& half_word) {
  const std::uint32_t size = half_words(v.conversion, v.location.width);
  if (size > 1) half_word += half_word % 2;
  fields.push_back({variable, half_word, size});
  half_word += size;
}

}  // namespace

LinkLayout link_layout(const Program& program) {
  LinkLayout layout;
  const std::array fields{&layout.targets, &layout.sources, &layout.results, &layout.params,
                          &layout.outputs};
  std::array<std::uint32_t, fields.size()> ends{};
  for (std::uint32_t i = 0; i < program.variables.size(); ++i) {
    const Variable& v = program.variables[i];
    const auto kind = static_cast<std::size_t>(v.kind);
    if (v.kind == VarKind::Param) ends[kind] = 0;  // every param is a group of its own
    append(*fields[kind], i, v, ends[kind]);
  }
  const auto words = [&ends](VarKind kind) {
    return (ends[static_cast<std::size_t>(kind)] + 1) / 2;
  };
  layout.target_words = words(VarKind::Target);
  layout.source_words = words(VarKind::Source);
  layout.result_words = words(VarKind::Result);
  layout.output_words = words(VarKind::Output);
  return layout;
}

std::uint64_t output_records(const Program& program, const Geometry& geometry,
                             ChipPartition partition) noexcept {
  if (partition == ChipPartition::SourcesOverBlocks) return 1;
  for (const Variable& v : program.variables) {
    if (v.kind == VarKind::Output && v.reduce == Reduce::Pass) return geometry.blocks;
  }
  return 1;
}

std::uint64_t target_slots(const Program& program, const Geometry& geometry,
                           ChipPartition partition) noexcept {
  const std::uint64_t lanes = std::uint64_t{geometry.pes_per_block} * program.elements;
  return partition == ChipPartition::SourcesOverBlocks ? lanes : lanes * geometry.blocks;
}

}  // namespace gdr
