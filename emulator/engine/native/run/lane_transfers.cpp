#include "emulator/engine/native/run/lane_transfers.hpp"

#include <algorithm>
#include <map>

#include "emulator/engine/api/check.hpp"

namespace gdr::native {
namespace {

/// What a short of the state would hold: a half of a field of the targets or of an output of a
/// kernel, or the same in all PEs. Lost: what only the state could hold.
struct Origin {
  enum class Kind : std::uint8_t { Lost, Field, Output, Uniform } kind = Kind::Lost;
  WordType type = WordType::Long;  ///< type of the write
  std::uint8_t half = 0;           ///< 1: the lower half of a long
  std::size_t number = 0;          ///< number of the field, or of the output's kernel
  std::size_t section = 0;         ///< section of that kernel
  std::uint32_t offset = 0;        ///< offset in the kernel's work items, bytes
  UniformWord word;
};
/// Nothing is known of a place that is missing: it holds what the image does.
using Origins = std::map<StatePlace, Origin>;

/// The key of a field's word in element 0.
LeafKey key_of(const CellMap& map, const PortField& field) {
  const WordType type = field.width == Width::Long ? WordType::Long : WordType::Bits;
  return {type, map.cell(field.location, 0), 0};
}

/// Whether a word that was written as one type is the other's when it is read.
bool is_read_as(WordType written, WordType read) {
  const auto is_short = [](WordType type) {
    return type == WordType::Short || type == WordType::Bits;
  };
  return written == read || (is_short(written) && is_short(read));
}

void set_word(LeafKey key, Origin origin, Origins& origins) {
  origin.type = key.type;
  for (const StatePlace& place : places_of(key)) {
    origins[place] = origin;
    ++origin.half;
  }
}

/// Words that a section has written at its end: results, copies and constants.
void set_outputs(const CompiledSection& section, std::size_t number, const CompiledKernels& code,
                 Origins& origins) {
  for (std::size_t k = 0; k < code.kernels.size(); ++k)
    for (const RowTransfer& out : code.kernels[k].out)
      if (out.instance == 0 && out.key.delay == 0)
        set_word(out.key, {Origin::Kind::Output, {}, 0, k, number, out.offset, {}}, origins);
  for (const MovedShort& move : section.moves()) {
    Origin& origin = origins[{false, move.to}] = {};
    if (move.from == NodeOp::Input) continue;
    origin.kind = Origin::Kind::Uniform;
    (move.from == NodeOp::Source ? origin.word.of_source : origin.word.address) = move.place;
    origin.word.before_start = number == LaneSections::start;
  }
  for (const ConstantRoot& constant : section.constants()) {
    if (constant.key.delay != 0) continue;
    const std::vector<StatePlace> places = places_of(constant.key);
    for (std::size_t k = 0; k < places.size(); ++k) {
      Origin& origin = origins[places[k]] = {};
      origin.kind = Origin::Kind::Uniform;
      origin.word.given = true;
      origin.word.word = k == 0 ? constant.upper : constant.lower;
    }
  }
}

KernelInputs inputs_of(const CompiledKernels::Entry& entry, const Origins& origins) {
  KernelInputs inputs;
  for (const RowTransfer& in : entry.in) {
    if (in.instance != 0) continue;
    std::vector<const Origin*> from;
    for (const StatePlace& place : places_of(in.key)) {
      const auto found = origins.find(place);
      from.push_back(found == origins.end() ? nullptr : &found->second);
    }
    const auto is_uniform = [](const Origin* o) {
      return o == nullptr || o->kind == Origin::Kind::Uniform;
    };
    if (std::ranges::all_of(from, is_uniform)) {
      const auto word = [](const Origin* o) { return o == nullptr ? UniformWord{} : o->word; };
      inputs.uniforms.push_back({in.key, word(from.front()), word(from.back()), in.offset});
      continue;
    }
    const Origin* const first = from.front();
    for (std::size_t k = 0; k < from.size(); ++k)
      if (from[k] == nullptr || from[k]->kind != first->kind || from[k]->half != k ||
          from[k]->section != first->section || from[k]->number != first->number ||
          from[k]->offset != first->offset)
        throw Unsupported("a word is read in parts");
    if (first->kind == Origin::Kind::Lost || !is_read_as(first->type, in.key.type))
      throw Unsupported("a word is read as another one");
    if (first->kind == Origin::Kind::Field)
      inputs.fields.push_back({first->number, in.offset, in.key.type});
    else
      inputs.copied.push_back(
          {first->section, first->number, first->offset, in.offset, first->type});
  }
  return inputs;
}

}  // namespace

LaneTransfers make_lane_transfers(const CompiledProgram& compiled, const LoadedProgram& loaded,
                                  const LaneCodes& codes) {
  LaneTransfers made;
  Origins origins;
  const CellMap& map = compiled.map;
  for (std::size_t f = 0; f < loaded.targets.size(); ++f)
    set_word(key_of(map, loaded.targets[f]), {Origin::Kind::Field, {}, 0, f, 0, 0, {}}, origins);
  for (const std::size_t number : LaneSections::all) {
    for (const CompiledKernels::Entry& entry : codes[number]->kernels)
      made.inputs[number].push_back(inputs_of(entry, origins));
    set_outputs(*compiled.section(LaneSections::names[number]), number, *codes[number], origins);
  }
  for (std::size_t f = 0; f < loaded.results.size(); ++f) {
    const LeafKey key = key_of(map, loaded.results[f]);
    const auto found = origins.find(places_of(key).front());
    const Origin from = found == origins.end() ? Origin{} : found->second;
    if (from.kind != Origin::Kind::Output || from.half != 0 || !is_read_as(from.type, key.type))
      throw Unsupported("a result is not an output");
    made.results.push_back({f, from.section, from.number, from.offset, from.type});
  }
  return made;
}

}  // namespace gdr::native
