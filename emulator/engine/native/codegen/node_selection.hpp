// Which nodes of a segment become operations of their own, and in which form.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/jit/vector_target.hpp"
#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {

/// An operation under a mask: the other lanes are those of `otherwise`.
struct MaskedOperation {
  Ref inner = no_ref, mask = no_ref, otherwise = no_ref;
};

/// The numbers of a comparison a <= b.
struct ComparedNumbers {
  Ref a = no_ref, b = no_ref;
};

/// Decisions about the nodes of a segment that depend on their uses.
class NodeSelection {
 public:
  NodeSelection(const Segment& segment, jit::VectorTarget target);

  /// Whether a node makes an operation; others are dead, leaves, free, or parts of their users.
  bool makes_operation(std::uint32_t n) const;
  /// Whether a mask is kept as its complement.
  bool is_inverted(std::uint32_t n) const { return inverted_[n]; }
  /// Whether a mask is the complement of its value.
  bool is_complement(Ref r) const { return negated(r) != inverted_[node_of(r)]; }
  /// Whether a node is a part of its only user, and has no value.
  bool is_absorbed(std::uint32_t n) const { return absorbed_[n]; }
  /// Whether a node is a difference that is only compared, and has no value.
  bool is_compared(std::uint32_t n) const { return compared_[n]; }

  /// The operation of which a select is the only user, if it can run under its mask; else no_ref.
  MaskedOperation absorbed_by_select(const Node& select) const;
  /// A comparison under the mask of the other one; else no_ref.
  Ref absorbed_by_both(const Node& both) const;
  /// What one comparison decides instead of those for less and for equal of which a Both joins the
  /// complements; else no_ref.
  ComparedNumbers less_or_equal(const Node& both) const;

 private:
  void find_inverted(const Segment& segment);
  void find_compared();
  void find_absorbed();
  void find_joined();
  bool is_either(const Node& both) const;
  bool can_be_masked(Ref inner, Ref otherwise) const;
  bool runs_under_complement(const Node& select) const;
  bool has_one_use(Ref r) const { return uses_[node_of(r)] == 1; }

  const Graph& g_;
  jit::VectorTarget target_;
  std::vector<bool> needed_;
  std::vector<unsigned> uses_;
  std::vector<bool> inverted_;
  std::vector<bool> absorbed_;
  std::vector<bool> compared_;
};

}  // namespace gdr::native
