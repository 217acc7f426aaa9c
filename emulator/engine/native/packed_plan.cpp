#include "emulator/engine/native/packed_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "emulator/engine/check.hpp"

namespace gdr::native {
namespace {

/// A cell of the PEs' memories, or a mask of an element.
struct Place {
  bool mask = false;
  std::uint32_t number = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// Throws std::string: the reason for failure.
class Planner {
 public:
  /// `folded`: see PackedPlan.
  Planner(const CompiledProgram& compiled, const LoadedProgram& loaded, bool folded)
      : compiled_(compiled),
        loaded_(loaded),
        folded_(folded),
        elements_(loaded.program.elements),
        elements_of_(elements_) {}

  std::vector<PackedPlan::Preset> plan() {
    check_sections();
    for (const Section s : sections)
      for (const Kernel& kernel : section(s).kernels()) check_instances(kernel);
    for (const PortField& field : loaded_.targets) place_field(field, targets_);
    for (const PortField& field : loaded_.results) place_field(field, results_);
    check_order();
    for (const Section s : sections) follow(s);
    for (const Place& place : results_)
      if (!computed_.contains(place)) throw std::string("a result is not computed");
    for (const auto& [place, move] : moved_)
      if (read_.contains(place) || results_.contains(place)) check_move(place, move);
    std::vector<PackedPlan::Preset> presets;
    for (const Place& place : presets_) presets.push_back(preset(place));
    return presets;
  }

 private:
  static constexpr Section sections[] = {Section::Start, Section::Body, Section::End};

  const CompiledSection& section(Section s) const {
    return *compiled_.parts[static_cast<unsigned>(s)].section;
  }

  void check_sections() const {
    if (!loaded_.outputs.empty() || loaded_.results.empty() || loaded_.targets.empty() ||
        loaded_.sources.empty())
      throw std::string("it has output items, or no targets, sources or results");
    for (const Section s : sections) {
      const auto& part = compiled_.parts[static_cast<unsigned>(s)];
      if (!part.section) throw std::string("a section runs on the exact engine");
      const bool reads = s != Section::Body && reads_sources(*part.section);
      const bool bm_stores = s == Section::Start
                                 ? !compiled_.fusable && !part.section->bm_stores().empty()
                                 : !part.section->bm_stores().empty();
      if (s != Section::Body && !uses_fixed_words_only(loaded_.program, s))
        throw std::string("a section other than the loop reads j-items");
      if (reads || bm_stores)
        throw std::string("a section other than the loop uses the broadcast memory");
    }
    if (section(Section::Body).stream_bytes() == 0) throw std::string("it reads no sources");
    if (!body_accepts_streams(loaded_.program))
      throw std::string("the loop reads the broadcast memory beside its sources");
  }

  static bool reads_sources(const CompiledSection& section) {
    return !section.source_words().words.empty() ||
           std::ranges::any_of(section.moves(),
                               [](const MovedRow& move) { return move.from == NodeOp::Source; });
  }

  static std::vector<Place> places(LeafKey key) {
    if (key.take == Take::Mask) return {{true, key.place}};
    if (key.take == Take::Long) return {{false, key.place}, {false, key.place + 1}};
    return {{false, key.place}};
  }

  /// Element e has at `other` what element 0 has at `first`.
  void match(unsigned e, Place first, Place other) {
    const auto [at, is_new] = elements_of_[e].try_emplace(first, other);
    if (!is_new && at->second != other) throw std::string("elements compute differently");
  }
  void match(unsigned e, LeafKey first, LeafKey other) {
    if (other.take != first.take) throw std::string("elements compute differently");
    const std::vector<Place> from = places(first), to = places(other);
    for (std::size_t k = 0; k < from.size(); ++k) match(e, from[k], to[k]);
  }

  /// Instances that are worked on.
  std::span<const KernelInstance> instances(const Kernel& kernel) const {
    return std::span(kernel.instances).first(folded_ ? 1 : kernel.instances.size());
  }

  void check_instances(const Kernel& kernel) {
    for (const KernelInstance& instance : instances(kernel)) {
      for (const LeafKey key : instance.inputs)
        if (key.take == Take::PeNumber || key.take == Take::BlockNumber)
          throw std::string("a PE reads its number");
      for (const LeafKey key : instance.outputs)
        if (key.delay != 0) throw std::string("it stores words");
    }
    if (folded_) match_instances(kernel);
  }

  /// Instance e works on element e, or one works for all of them.
  void match_instances(const Kernel& kernel) {
    const bool shared = kernel.instances.size() == 1;
    if (!shared && kernel.instances.size() != elements_)
      throw std::string("elements compute differently");
    const KernelInstance& first = kernel.instances[0];
    for (unsigned e = 0; e < elements_; ++e) {
      const KernelInstance& other = kernel.instances[shared ? 0 : e];
      for (std::size_t k = 0; k < first.inputs.size(); ++k)
        match(e, first.inputs[k], other.inputs[k]);
      for (std::size_t k = 0; k < first.outputs.size(); ++k)
        match(e, first.outputs[k], other.outputs[k]);
    }
  }

  /// Checks that the first instance reads only element 0 in all sections.
  void check_order() const {
    for (unsigned e = 1; folded_ && e < elements_; ++e)
      for (const auto& [first, other] : elements_of_[e])
        if (other != first && elements_of_[e].contains(other))
          throw std::string("elements have different orders");
  }

  void place_field(const PortField& field, std::set<Place>& to) {
    const Operand& x = field.location;
    if (elements_ > 1 && !x.vector && x.space != Space::T)
      throw std::string("a variable is shared by all elements");
    for (unsigned e = 0; e < elements_; ++e)
      for (unsigned half = 0; half < shorts_in(field.width); ++half) {
        const Place first{false, compiled_.map.cell(x, 0) + half};
        const Place own{false, compiled_.map.cell(x, e) + half};
        if (folded_) match(e, first, own);
        to.insert(folded_ ? first : own);
      }
  }

  /// Checks a section's inputs, then its outputs.
  void follow(Section s) {
    const bool body = s == Section::Body;
    const auto read = [&](const Place& place) {
      read_.insert(place);
      if (targets_.contains(place) || computed_.contains(place) || constants_.contains(place))
        return;
      // What an earlier pass left in a result is no business of a pass that was packed.
      if (results_.contains(place)) throw std::string("a result is carried between runs");
      presets_.insert(place);
    };
    for (const Kernel& kernel : section(s).kernels())
      for (const KernelInstance& instance : instances(kernel))
        for (const LeafKey key : instance.inputs)
          for (const Place& place : places(key)) read(place);
    for (const Kernel& kernel : section(s).kernels())
      for (const KernelInstance& instance : instances(kernel))
        for (const LeafKey key : instance.outputs)
          for (const Place& place : places(key)) computed_.insert(place);
    for (const ConstantRoot& constant : section(s).constants()) {
      if (constant.key.delay != 0) continue;
      for (const Place& place : places(constant.key)) {
        // The loop's last pass alone leaves its constants, so what it finds there first is another.
        if (body) computed_.insert(place);
        constants_.insert(place);
      }
    }
    for (const MovedRow& move : section(s).moves()) {
      const Place place = place_of(move.to);
      moved_.emplace(place, move);
      computed_.insert(place);
    }
  }

  /// A word of the last source, or of the broadcast memory, that every element gets alike.
  void check_move(const Place& place, const MovedRow& move) const {
    constexpr auto why = "a word is copied";
    if (move.from == NodeOp::Input) throw std::string(why);
    for (unsigned e = 0; folded_ && e < elements_; ++e) {
      const auto other = moved_.find(elements_of_[e].at(place));
      if (other == moved_.end() || other->second.from != move.from ||
          other->second.place != move.place)
        throw std::string(why);
    }
  }

  Place place_of(const CellRow& row) const {
    if (row.memory == &BlockState::masks) return {true, row.row};
    if (row.memory == &BlockState::registers) return {false, row.row};
    if (row.memory == &BlockState::local) return {false, compiled_.map.local + row.row};
    return {false, compiled_.map.t + row.row};
  }
  CellRow row_of(const Place& place) const {
    return cell_row(compiled_.map, {place.mask ? Take::Mask : Take::Bits, place.number, 0});
  }

  PackedPlan::Preset preset(const Place& place) const {
    PackedPlan::Preset made{row_of(place), {}};
    for (unsigned e = 1; folded_ && e < elements_; ++e)
      made.elements.push_back(row_of(elements_of_[e].at(place)));
    return made;
  }

  const CompiledProgram& compiled_;
  const LoadedProgram& loaded_;
  const bool folded_;
  const unsigned elements_;
  std::vector<std::map<Place, Place>> elements_of_;  ///< by element: from the places of element 0
  std::set<Place> targets_, results_;
  std::set<Place> read_, computed_, constants_, presets_;
  std::map<Place, MovedRow> moved_;
};

}  // namespace

PackedPlan make_packed_plan(const CompiledProgram& compiled, const LoadedProgram& loaded) {
  std::string reason;
  for (const bool folded : {true, false}) {
    try {
      return {
          true, {}, folded ? 1 : loaded.program.elements, Planner(compiled, loaded, folded).plan()};
    } catch (const std::string& why) {
      reason = why;
    }
  }
  return {false, reason, 1, {}};
}

}  // namespace gdr::native
