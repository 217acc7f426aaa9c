#include "emulator/engine/native/run/integer_change.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "emulator/engine/native/run/lane_transfers.hpp"

namespace gdr::native {
namespace {

/// Follows integers through the sections.
class IntegerChange {
 public:
  IntegerChange(const CompiledProgram& compiled, const LoadedProgram& loaded, bool folded)
      : compiled_(compiled),
        loaded_(loaded),
        folded_(folded),
        elements_(folded ? 1 : loaded.program.elements) {}

  std::optional<IntegerBound> of_results() const {
    IntegerBound most;
    for (const PortField& field : loaded_.results) {
      if (field.reduce != Reduce::Iadd) continue;
      if (field.width != Width::Short) return std::nullopt;
      for (unsigned e = 0; e < (elements_); ++e) {
        const std::optional<IntegerBound> change =
            change_of({false, compiled_.map.cell(field.location, e)});
        if (!change) return std::nullopt;
        most = larger(most, *change);
      }
    }
    return most;
  }

 private:
  static IntegerBound larger(IntegerBound a, IntegerBound b) {
    return {std::max(a.constant, b.constant), std::max(a.factor, b.factor)};
  }

  const CompiledSection& section(Section s) const { return *compiled_.section(s); }
  /// Instances that are worked on.
  std::span<const KernelInstance> instances(const Kernel& kernel) const {
    return std::span(kernel.instances).first(folded_ ? 1 : kernel.instances.size());
  }

  /// By how much an iteration of the loop, or End, changes an integer that is a result. The end of
  /// a pipelined loop is in section End.
  std::optional<IntegerBound> change_of(const StatePlace& place) const {
    const auto is_here = [&](LeafKey key) { return is_bits_of(key, place); };
    const auto sets_zero = [&](const ConstantRoot& root) {
      return sets(root, place) && root.upper == 0 && root.lower == 0;
    };
    // The network adds up what all blocks begin with, or end with.
    if (std::ranges::none_of(section(Section::Start).constants(), sets_zero) ||
        is_constant_after(Section::End, place) || is_moved(place))
      return std::nullopt;
    std::optional<IntegerBound> in_loop;
    if (!is_written_in(Section::Body, place)) in_loop = IntegerBound{};
    for (const Kernel& kernel : section(Section::Body).kernels())
      for (const KernelInstance& instance : instances(kernel))
        for (const KernelCarried& carried : kernel.carried)
          if (is_here(instance.inputs[carried.slot]))
            in_loop = largest_change(kernel, carried.next, carried.slot,
                                     bounds_in(Section::Body, instance));
    if (!in_loop) return std::nullopt;
    for (const Kernel& kernel : section(Section::End).kernels())
      for (const KernelInstance& instance : instances(kernel)) {
        const auto output = std::ranges::find_if(instance.outputs, is_here);
        if (output == instance.outputs.end()) continue;
        const auto input = std::ranges::find_if(instance.inputs, is_here);
        if (input == instance.inputs.end()) return std::nullopt;
        const auto number = static_cast<std::size_t>(output - instance.outputs.begin());
        const std::optional<IntegerBound> at_end =
            largest_change(kernel, kernel.outputs[number].value,
                           static_cast<std::uint32_t>(input - instance.inputs.begin()),
                           bounds_in(Section::End, instance));
        if (!at_end) return std::nullopt;
        in_loop = larger(*in_loop, *at_end);
      }
    return in_loop;
  }

  static bool is_bits_of(LeafKey key, const StatePlace& place) {
    return key.type == WordType::Bits && places_of(key) == std::vector{place};
  }
  static bool sets(const ConstantRoot& root, const StatePlace& place) {
    return std::ranges::count(places_of(root.key), place) != 0;
  }
  bool is_constant_after(Section s, const StatePlace& place) const {
    return std::ranges::any_of(section(s).constants(),
                               [&](const ConstantRoot& root) { return sets(root, place); });
  }
  bool is_moved_in(Section s, const StatePlace& place) const {
    return std::ranges::any_of(section(s).moves(), [&](const MovedShort& move) {
      return !place.mask && move.to == place.number;
    });
  }
  bool is_moved(const StatePlace& place) const {
    return std::ranges::any_of(LaneSections::names,
                               [&](Section s) { return is_moved_in(s, place); });
  }
  bool is_written_in(Section s, const StatePlace& place) const {
    const auto writes = [&](const KernelInstance& instance) {
      return std::ranges::any_of(instance.outputs, [&](LeafKey key) {
        return std::ranges::count(places_of(key), place) != 0;
      });
    };
    return is_constant_after(s, place) || is_moved_in(s, place) ||
           std::ranges::any_of(section(s).kernels(), [&](const Kernel& kernel) {
             return std::ranges::any_of(kernel.instances, writes);
           });
  }

  static bool is_integer(const PortField& field) {
    return field.conversion.machine == MachineFormat::Integer && field.width == Width::Short &&
           field.conversion.host == HostType::I64;
  }

  /// Bounds of integers that come from sources, from targets, or through Start from these.
  LeafBound bounds_in(Section s, const KernelInstance& instance) const {
    return [this, s, &instance](const Node& leaf) -> std::optional<IntegerBound> {
      const LeafKey key = LeafKey::unpack(leaf.bits);
      if (leaf.op == NodeOp::Source) {
        const auto is_here = [&](const PortField& field) {
          return is_integer(field) &&
                 field.location.address == key.place % loaded_.program.item_shorts;
        };
        if (key.type != WordType::Bits || std::ranges::none_of(loaded_.sources, is_here))
          return std::nullopt;
        return IntegerBound{0, 1};
      }
      const LeafKey read = instance.inputs[key.place];
      const std::vector<StatePlace> places = places_of(read);
      if (read.type != WordType::Bits || places.size() != 1) return std::nullopt;
      return bound_before(s, places.front());
    };
  }

  /// A bound of an integer in the state at the beginning of each iteration of a section.
  std::optional<IntegerBound> bound_before(Section s, const StatePlace& place) const {
    if (s != Section::Start && is_written_in(Section::Body, place)) return std::nullopt;
    if (s == Section::Start || !is_written_in(Section::Start, place)) {
      const auto is_here = [&](const PortField& field) {
        for (unsigned e = 0; e < (elements_); ++e)
          if (StatePlace{false, compiled_.map.cell(field.location, e)} == place)
            return is_integer(field);
        return false;
      };
      if (std::ranges::none_of(loaded_.targets, is_here)) return std::nullopt;
      return IntegerBound{0, 1};
    }
    for (const Kernel& kernel : section(Section::Start).kernels())
      for (const KernelInstance& instance : instances(kernel))
        for (std::size_t k = 0; k < instance.outputs.size(); ++k)
          if (is_bits_of(instance.outputs[k], place))
            return largest_magnitude(kernel, kernel.outputs[k].value,
                                     bounds_in(Section::Start, instance));
    return std::nullopt;
  }

  const CompiledProgram& compiled_;
  const LoadedProgram& loaded_;
  const bool folded_;
  const unsigned elements_;  ///< number of elements that are worked on
};

}  // namespace

std::optional<IntegerBound> integer_change(const CompiledProgram& compiled,
                                           const LoadedProgram& loaded, bool folded) {
  return IntegerChange(compiled, loaded, folded).of_results();
}

}  // namespace gdr::native
