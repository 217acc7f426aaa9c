#include "emulator/engine/native/program/section_constants.hpp"

#include <algorithm>
#include <set>

namespace gdr::native {

std::vector<StatePlace> places_of(LeafKey key) {
  const bool mask = key.type == WordType::Mask;
  if (!is_long(key.type)) return {{mask, key.place}};
  return {{mask, key.place}, {mask, key.place + 1}};
}

PreviousConstants::PreviousConstants(const std::vector<ConstantRoot>& constants,
                                     const std::vector<Kernel>& kernels,
                                     const std::vector<MovedShort>& moves) {
  for (const ConstantRoot& constant : constants) {
    if (constant.key.delay != 0) continue;  // a part of a BM store
    const std::vector<StatePlace> places = places_of(constant.key);
    shorts_[places.front()] = constant.upper;
    if (places.size() > 1) shorts_[places.back()] = constant.lower;
  }
  // Inputs that are read from the state even in a fused run, and words stored to it.
  std::set<StatePlace> read, written;
  const auto insert = [](std::set<StatePlace>& to, LeafKey key) {
    for (const StatePlace place : places_of(key)) to.insert(place);
  };
  for (const MovedShort& move : moves)
    if (move.from == NodeOp::Input) insert(read, {WordType::Bits, move.place, 0});
  for (const Kernel& kernel : kernels) {
    for (const KernelInstance& instance : kernel.instances) {
      for (const LeafKey key : instance.inputs)
        if (!contains(key)) insert(read, key);
      for (const LeafKey key : instance.outputs)
        if (key.delay == 0) insert(written, key);
    }
  }
  for (const ConstantRoot& constant : constants) {
    const auto needed = [&](StatePlace place) {
      return read.contains(place) || !written.contains(place);
    };
    if (constant.key.delay != 0 || std::ranges::any_of(places_of(constant.key), needed))
      unfused_.push_back(constant);
  }
}

bool PreviousConstants::contains(LeafKey key) const {
  if (key.type == WordType::PeNumber || key.type == WordType::BlockNumber || key.delay != 0)
    return false;
  return std::ranges::all_of(places_of(key), [&](StatePlace p) { return shorts_.contains(p); });
}

ConstantRoot PreviousConstants::word(LeafKey key) const {
  const std::vector<StatePlace> places = places_of(key);
  return {key, shorts_.at(places.front()), shorts_.at(places.back())};
}

}  // namespace gdr::native
