// Recognition of appends to lists among the instructions of a section.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/native/translate/section.hpp"

namespace gdr::native {

/// Replaces stores through T and the changes of counters by appends, while a section is translated.
/// Stores are supported as kernels append to a list: to the least of the last address and a counter
/// that was just advanced under the same condition, in this iteration or the previous one.
class ListAppends {
 public:
  /// Changes the lists, appends and left stores of the model, which must outlive it.
  explicit ListAppends(SectionModel& model) : m_(model), g_(model.graph), c_(model.cells) {}

  /// The next store of the section, by values before its instruction.
  void store(const StoreThroughT& store);
  /// After all instructions: removes the changes of counters, which belong to the appends. Outside
  /// of the loop, a counter may change after the last append. Throws Unsupported for stores that
  /// are not those of lists.
  void finish(Section section);

 private:
  bool append(const StoreThroughT& store);
  Ref before_advance(Ref advanced, Ref enabled, std::uint32_t& stride) const;

  SectionModel& m_;
  Graph& g_;
  MemoryModel& c_;
  std::vector<Ref> counts_;  ///< counter of each list after the appends so far
};

/// Whether the last section stores what the iterations of the loop leave to it, and nothing else
/// through T but its own appends.
bool completes(const SectionModel& end, const SectionModel& body);

}  // namespace gdr::native
