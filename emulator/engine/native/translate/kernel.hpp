// Kernels: connected components of a section's graph. The elements of a vector instruction are
// usually isomorphic, and are then instances of one kernel.
#pragma once

#include <utility>
#include <vector>

#include "emulator/engine/native/translate/liveness.hpp"

namespace gdr::native {

/// An output of a kernel.
struct KernelOutput {
  WordType type = WordType::Long;
  Ref value = no_ref;
  bool read_by_section = false;  ///< whether a section reads the output
  friend bool operator==(const KernelOutput&, const KernelOutput&) = default;
};

/// A loop-carried slot.
struct KernelCarried {
  std::uint32_t slot = 0;
  Ref next = no_ref;
  friend bool operator==(const KernelCarried&, const KernelCarried&) = default;
};

/// A list of a kernel: see List.
struct KernelList {
  std::uint32_t stride = 0, first = 0, last = 0;
  friend bool operator==(const KernelList&, const KernelList&) = default;
};

/// Locations of a kernel's inputs and outputs for one of its instances, and its lists.
struct KernelInstance {
  std::vector<LeafKey> inputs, outputs;
  std::vector<List> lists;
};

/// What section Start leaves in the inputs of a loop, computed from words that are unchanged in the
/// loop. Leaves are those of the loop's kernel.
struct KnownInputs {
  Graph graph;
  std::vector<Ref> values;  ///< value of each slot; no_ref: unknown
};

/// Input leaves of the graph name slots: LeafKey::place counts `inputs` of the instances.
struct Kernel {
  Graph graph;
  std::vector<WordType> inputs;
  std::vector<KernelOutput> outputs;
  std::vector<KernelCarried> carried;
  std::vector<KernelList> lists;
  /// Nodes that append to lists, in the order of the program; AppendKey::list counts `lists`.
  std::vector<Ref> appends;
  /// Shorts of this kernel that another kernel of the section, which also computes them, stores.
  std::vector<Ref> left;
  std::vector<KernelInstance> instances;
  KnownInputs known;  ///< inputs of a loop in floats
};

/// A short that is copied without interpretation.
struct MovedShort {
  std::uint32_t to = 0;  ///< destination cell
  NodeOp from = NodeOp::Input;
  std::uint32_t place = 0;
  friend bool operator==(const MovedShort&, const MovedShort&) = default;
};

/// A section as kernels, copies and constants.
struct SplitSection {
  std::vector<Kernel> kernels;
  std::vector<MovedShort> moves;
  std::vector<std::pair<std::size_t, Ref>>
      constants;  ///< roots that are constants, with their value
};

/// Splits the live values of a section into kernels.
SplitSection split(const SectionModel& model, const Liveness& liveness);

}  // namespace gdr::native
