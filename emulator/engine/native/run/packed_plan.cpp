#include "emulator/engine/native/run/packed_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "emulator/engine/api/check.hpp"
#include "emulator/engine/native/run/integer_change.hpp"

namespace gdr::native {
namespace {

/// Throws Unsupported if targets cannot be packed.
class Planner {
 public:
  /// `folded`: see PackedPlan.
  Planner(const CompiledProgram& compiled, const LoadedProgram& loaded, bool folded)
      : compiled_(compiled),
        loaded_(loaded),
        folded_(folded),
        elements_(loaded.program.elements),
        elements_of_(elements_) {}

  std::vector<std::vector<CellRow>> plan() {
    check_sections();
    for (const PortField& field : loaded_.targets) place_field(field, targets_);
    for (const PortField& field : loaded_.results) place_field(field, results_);
    find_needed();
    for (const Section s : sections)
      for (const Kernel& kernel : section(s).kernels()) check_instances(s, kernel);
    check_order();
    for (const Section s : sections) check_section(s);
    for (const StatePlace& place : results_)
      if (!computed_.contains(place) && !constants_.contains(place))
        throw Unsupported("a result is not computed");
    for (const auto& [place, move] : moved_)
      if (read_.contains(place) || results_.contains(place)) check_move(place, move);
    std::vector<std::vector<CellRow>> presets;
    for (const StatePlace& place : presets_) presets.push_back(preset(place));
    return presets;
  }

 private:
  static constexpr Section sections[] = {Section::Start, Section::Body, Section::End};

  const CompiledSection& section(Section s) const { return *compiled_.section(s); }

  void check_sections() const {
    if (!loaded_.outputs.empty() || loaded_.results.empty())
      throw Unsupported("it has output items, or no results");
    for (const Section s : sections) {
      if (compiled_.section(s) == nullptr) throw Unsupported("a section runs on the exact engine");
      const bool reads = s != Section::Body && reads_sources(section(s));
      // What Start stores is the same in all PEs (check_instances).
      const bool bm_stores = !section(s).bm_stores().empty() && s != Section::Start;
      if (s != Section::Body && !uses_fixed_words_only(loaded_.program, s))
        throw Unsupported("a section other than the loop reads j-items");
      if (reads || bm_stores)
        throw Unsupported("a section other than the loop uses the broadcast memory");
    }
    if (!body_accepts_streams(loaded_.program))
      throw Unsupported("the loop reads the broadcast memory beside its sources");
  }

  static bool reads_sources(const CompiledSection& section) {
    return !section.source_words().words.empty() ||
           std::ranges::any_of(section.moves(),
                               [](const MovedShort& move) { return move.from == NodeOp::Source; });
  }

  /// Records that `other` is to element e as `first` is to element 0.
  void match(unsigned e, StatePlace first, StatePlace other) {
    const auto [at, is_new] = elements_of_[e].try_emplace(first, other);
    if (!is_new && at->second != other) throw Unsupported("elements compute differently");
  }
  void match(unsigned e, LeafKey first, LeafKey other) {
    if (other.type != first.type) throw Unsupported("elements compute differently");
    const std::vector<StatePlace> from = places_of(first), to = places_of(other);
    for (std::size_t k = 0; k < from.size(); ++k) match(e, from[k], to[k]);
  }

  /// Instances that are worked on.
  std::span<const KernelInstance> instances(const Kernel& kernel) const {
    return std::span(kernel.instances).first(folded_ ? 1 : kernel.instances.size());
  }

  void check_instances(Section s, const Kernel& kernel) {
    for (const KernelInstance& instance : instances(kernel)) {
      for (const LeafKey key : instance.inputs)
        if (key.type == WordType::PeNumber || key.type == WordType::BlockNumber)
          throw Unsupported("a PE reads its number");
      for (const LeafKey key : instance.outputs)
        if (key.delay != 0) throw Unsupported("it stores words");
    }
    // Counters of elements differ, and a section may compute anything from them.
    if (folded_ && elements_ > 1 && !kernel.lists.empty())
      throw Unsupported("elements have lists of their own");
    if (folded_) match_instances(s, kernel);
  }

  /// The places that later sections, or later iterations of the loop, read, or that hold results
  /// after a section. The others keep temporary values, and programs use them for an element in one
  /// section, and for all elements in another.
  void find_needed() {
    std::set<StatePlace> needed = results_;
    needed_[Section::End] = needed;
    for (const Section s : {Section::End, Section::Body})
      for (const Kernel& kernel : section(s).kernels())
        for (const KernelInstance& instance : kernel.instances)
          for (const LeafKey key : instance.inputs)
            for (const StatePlace& place : places_of(key)) needed.insert(place);
    needed_[Section::Start] = needed_[Section::Body] = needed;
  }
  bool is_needed(Section after, LeafKey key) const {
    return std::ranges::any_of(
        places_of(key), [&](const StatePlace& place) { return needed_.at(after).contains(place); });
  }

  /// Instance e works on element e, or one works for all of them.
  void match_instances(Section s, const Kernel& kernel) {
    const bool shared = kernel.instances.size() == 1;
    if (!shared && kernel.instances.size() != elements_)
      throw Unsupported("elements compute differently");
    const KernelInstance& first = kernel.instances[0];
    for (unsigned e = 0; e < elements_; ++e) {
      const KernelInstance& other = kernel.instances[shared ? 0 : e];
      for (std::size_t k = 0; k < first.inputs.size(); ++k)
        match(e, first.inputs[k], other.inputs[k]);
      for (std::size_t k = 0; k < first.outputs.size(); ++k)
        if (is_needed(s, first.outputs[k]) || is_needed(s, other.outputs[k]))
          match(e, first.outputs[k], other.outputs[k]);
    }
  }

  /// Checks that the first instance reads only element 0 in all sections.
  void check_order() const {
    for (unsigned e = 1; folded_ && e < elements_; ++e)
      for (const auto& [first, other] : elements_of_[e])
        if (other != first && elements_of_[e].contains(other))
          throw Unsupported("elements have different orders");
  }

  void place_field(const PortField& field, std::set<StatePlace>& to) {
    const Operand& x = field.location;
    if (elements_ > 1 && !x.vector && x.space != Space::T)
      throw Unsupported("a variable is shared by all elements");
    for (unsigned e = 0; e < elements_; ++e)
      for (unsigned half = 0; half < shorts_in(field.width); ++half) {
        const StatePlace first{false, compiled_.map.cell(x, 0) + half};
        const StatePlace own{false, compiled_.map.cell(x, e) + half};
        if (folded_) match(e, first, own);
        to.insert(folded_ ? first : own);
      }
  }

  /// Checks a section's inputs, then its outputs.
  void check_section(Section s) {
    const bool body = s == Section::Body;
    const auto read = [&](const StatePlace& place) {
      read_.insert(place);
      if (targets_.contains(place) || computed_.contains(place) || constants_.contains(place))
        return;
      // Packed passes do not leave results in the state.
      if (results_.contains(place)) throw Unsupported("a result is carried between runs");
      presets_.insert(place);
    };
    for (const Kernel& kernel : section(s).kernels())
      for (const KernelInstance& instance : instances(kernel))
        for (const LeafKey key : instance.inputs)
          for (const StatePlace& place : places_of(key)) read(place);
    for (const Kernel& kernel : section(s).kernels())
      for (const KernelInstance& instance : instances(kernel))
        for (const LeafKey key : instance.outputs)
          for (const StatePlace& place : places_of(key)) computed_.insert(place);
    for (const Kernel& kernel : section(s).kernels())
      for (const KernelInstance& instance : instances(kernel))
        for (const List& list : instance.lists) check_list(list, read);
    for (const ConstantRoot& constant : section(s).constants()) {
      if (constant.key.delay != 0) continue;
      for (const StatePlace& place : places_of(constant.key)) {
        // Only the last iteration stores the constants, so other iterations read a different value.
        if (body) computed_.insert(place);
        constants_.insert(place);
      }
    }
    for (const MovedShort& move : section(s).moves()) {
      const StatePlace place{false, move.to};
      moved_.emplace(place, move);
      computed_.insert(place);
    }
  }

  /// A list needs its counter; entries that are not appended keep the constants of Start.
  template <typename Read>
  void check_list(const List& list, Read read) {
    read({false, list.counter});
    computed_.insert({false, list.counter});
    for (std::uint32_t at = list.first; at <= list.last; ++at) {
      const StatePlace entry{false, compiled_.map.local + at};
      if (results_.contains(entry) && !constants_.contains(entry))
        throw Unsupported("entries of a list are not set before");
      computed_.insert(entry);
    }
  }

  /// Checks that a copied word is one of the last source or the broadcast memory, equal in all
  /// elements.
  void check_move(const StatePlace& place, const MovedShort& move) const {
    constexpr auto why = "a word is copied";
    if (move.from == NodeOp::Input) throw Unsupported(why);
    for (unsigned e = 0; folded_ && e < elements_; ++e) {
      const auto other = moved_.find(elements_of_[e].at(place));
      if (other == moved_.end() || other->second.from != move.from ||
          other->second.place != move.place)
        throw Unsupported(why);
    }
  }

  CellRow row_of(const StatePlace& place) const {
    return cell_row(compiled_.map, {place.mask ? WordType::Mask : WordType::Bits, place.number, 0});
  }

  std::vector<CellRow> preset(const StatePlace& place) const {
    std::vector<CellRow> rows{row_of(place)};
    for (unsigned e = 1; folded_ && e < elements_; ++e)
      rows.push_back(row_of(elements_of_[e].at(place)));
    return rows;
  }

  const CompiledProgram& compiled_;
  const LoadedProgram& loaded_;
  const bool folded_;
  const unsigned elements_;
  std::vector<std::map<StatePlace, StatePlace>>
      elements_of_;  ///< places of every element, from those of element 0
  std::set<StatePlace> targets_, results_;
  std::map<Section, std::set<StatePlace>> needed_;  ///< places that are read after a section
  std::set<StatePlace> read_, computed_, constants_, presets_;
  std::map<StatePlace, MovedShort> moved_;
};

}  // namespace

PackedPlan make_packed_plan(const CompiledProgram& compiled, const LoadedProgram& loaded) {
  PackedPlan none;
  for (const bool folded : {true, false}) {
    try {
      const unsigned elements = folded ? 1 : loaded.program.elements;
      std::vector<std::vector<CellRow>> presets = Planner(compiled, loaded, folded).plan();
      return {true, folded, elements, std::move(presets), integer_change(compiled, loaded, folded),
              {}};
    } catch (const Unsupported& e) {  // the next way, or none
      none.reason = e.what();
    }
  }
  return none;
}

}  // namespace gdr::native
