// The connected components of a section's graph.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "emulator/engine/native/translate/kernel.hpp"

namespace gdr::native {

/// The roots, carried locations and appends of a connected component.
struct SectionPart {
  std::vector<std::size_t> roots, carried;
  std::vector<Ref> appends;
};

/// Divides the live values of a section: those that depend on the PE are private to one part;
/// leaves are shared by parts, and uniform values are recomputed in each.
class SectionParts {
 public:
  SectionParts(const SectionModel& model, const Liveness& liveness);

  /// The parts, by a number; adds roots that are copies and constants to `others`.
  std::map<std::uint32_t, SectionPart> parts(SplitSection& others);

  /// Skips selects with only one live side.
  Ref resolve(Ref r) const;
  /// Whether the value of a carried location is uniform over PEs, so that every part that reads it
  /// carries its own copy.
  bool is_shared(std::size_t carried) const { return is_shared_[carried]; }
  /// Whether several parts use an input. Call after `parts`.
  bool has_several_users(std::uint32_t input) const { return owner_[input] == several; }
  /// Whether a node is a short of several parts that some section reads.
  bool is_left(std::uint32_t n) const { return left_[n]; }

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0}, several = nobody - 1;

  bool is_needed(std::uint32_t n) const { return d_.of_node[n].has_value(); }
  bool is_private(Ref r) const { return is_private_[node_of(r)]; }
  bool is_carried(Ref r) const;
  bool is_moved(const Root& root, Ref value) const;
  std::vector<bool> dependent_nodes() const;
  void find_private();
  void find_left();
  void mark_left(Ref r);
  std::uint32_t find(std::uint32_t n);
  void unite(std::uint32_t a, std::uint32_t b) { parent_[find(a)] = find(b); }
  std::uint32_t part_of_list(Ref append) const;
  void unite_values();
  void find_owners();

  const SectionModel& m_;
  const Graph& g_;
  const Liveness& d_;
  std::size_t size_;                   ///< number of nodes
  std::vector<bool> is_private_;       ///< nodes of one part only
  std::vector<bool> is_shared_;        ///< carried locations that are uniform over PEs
  std::vector<bool> left_;             ///< nodes that are shorts of several parts
  std::vector<std::uint32_t> parent_;  ///< union-find of nodes, then roots, then lists
  std::vector<std::uint32_t> owner_;   ///< using part of each input, or `several`
};

}  // namespace gdr::native
