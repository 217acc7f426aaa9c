#include "emulator/engine/native/translate/section_parts.hpp"

#include <algorithm>
#include <numeric>

namespace gdr::native {

SectionParts::SectionParts(const SectionModel& model, const Liveness& liveness)
    : m_(model), g_(model.graph), d_(liveness), size_(model.graph.size()) {
  find_private();
  find_left();
}

Ref SectionParts::resolve(Ref r) const {
  for (;;) {
    const Node& node = g_[r];
    if (node.op != NodeOp::Select) return r;
    const Ref side = decided(node, *d_.of_node[node_of(r)]);
    if (side == no_ref) return r;
    r = side;
  }
}

// --- private and shared values

/// By node: whether it depends on the PE.
std::vector<bool> SectionParts::dependent_nodes() const {
  std::vector<bool> depends(size_, false), uniform(size_, false);
  for (std::size_t c = 0; c < d_.carried.size(); ++c)
    uniform[node_of(d_.carried[c].input)] = is_shared_[c];
  for (std::uint32_t n = 0; n < size_; ++n) {
    if (!is_needed(n)) continue;
    const Node& node = g_[ref_to(n)];
    depends[n] = node.op == NodeOp::Input && !uniform[n];
    for (const Ref r : node.operands()) {
      if (is_needed(node_of(r))) depends[n] = depends[n] || depends[node_of(resolve(r))];
    }
  }
  return depends;
}

void SectionParts::find_private() {
  is_private_.assign(size_, false);
  is_shared_.assign(d_.carried.size(), true);
  std::vector<bool> depends;
  for (bool changed = true; changed;) {
    changed = false;
    depends = dependent_nodes();
    for (std::size_t c = 0; c < d_.carried.size(); ++c) {
      if (!is_shared_[c] || !depends[node_of(resolve(d_.carried[c].next))]) continue;
      is_shared_[c] = false;
      changed = true;
    }
  }
  for (std::size_t c = 0; c < d_.carried.size(); ++c)
    is_private_[node_of(d_.carried[c].input)] = !is_shared_[c];
  for (std::uint32_t n = 0; n < size_; ++n) {
    if (is_needed(n) && depends[n] && !is_leaf(g_[ref_to(n)].op)) is_private_[n] = true;
  }
}

/// Shared values are recomputed in every part; if one stores such a value as a short, the others
/// are marked.
void SectionParts::find_left() {
  left_.assign(size_, false);
  for (const Root& root : d_.roots) {
    if (root.read_by_section && root.key.type == WordType::Short) mark_left(root.value);
  }
}

void SectionParts::mark_left(Ref r) {
  r = resolve(r);
  const Node& node = g_[r];
  if (node.op == NodeOp::Select) {
    mark_left(node.b);
    mark_left(node.c);
  } else if (!is_leaf(node.op) && !is_private(r)) {
    left_[node_of(r)] = true;
  }
}

// --- components

std::uint32_t SectionParts::find(std::uint32_t n) {
  while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
  return n;
}

/// All appends to a list are in one part, also if some of them are alike in all PEs.
std::uint32_t SectionParts::part_of_list(Ref append) const {
  const std::size_t first = size_ + d_.roots.size();
  return static_cast<std::uint32_t>(first + AppendKey::unpack(g_[append].bits).list);
}

void SectionParts::unite_values() {
  parent_.resize(size_ + d_.roots.size() + m_.lists.size());
  std::iota(parent_.begin(), parent_.end(), 0U);
  for (std::uint32_t n = 0; n < size_; ++n) {
    if (!is_needed(n) || resolve(ref_to(n)) != ref_to(n)) continue;
    for (const Ref r : g_[ref_to(n)].operands()) {
      const std::uint32_t operand = node_of(resolve(r));
      if (is_private_[n] && is_private_[operand]) unite(n, operand);
    }
  }
  for (const Carried& c : d_.carried) {
    if (is_private(resolve(c.next))) unite(node_of(c.input), node_of(resolve(c.next)));
  }
  for (const Ref append : m_.appends)
    if (is_private(append)) unite(node_of(append), part_of_list(append));
}

void SectionParts::find_owners() {
  owner_.assign(size_, nobody);
  for (std::uint32_t n = 0; n < size_; ++n) {
    if (!is_needed(n) || !is_private_[n] || resolve(ref_to(n)) != ref_to(n)) continue;
    for (const Ref r : g_[ref_to(n)].operands()) {
      std::uint32_t& owner = owner_[node_of(resolve(r))];
      owner = owner == nobody || owner == find(n) ? find(n) : several;
    }
  }
}

/// Whether iterations change this input.
bool SectionParts::is_carried(Ref r) const {
  return std::ranges::any_of(d_.carried,
                             [&](const Carried& c) { return node_of(c.input) == node_of(r); });
}

/// Whether a root is a short that is copied without interpretation.
bool SectionParts::is_moved(const Root& root, Ref value) const {
  return is_leaf(g_[value].op) && !is_private(value) && !is_carried(value) &&
         LeafKey::unpack(g_[value].bits).type == WordType::Bits && root.key.delay == 0;
}

std::map<std::uint32_t, SectionPart> SectionParts::parts(SplitSection& others) {
  unite_values();
  find_owners();
  std::map<std::uint32_t, SectionPart> parts;
  for (std::size_t r = 0; r < d_.roots.size(); ++r) {
    const Ref value = resolve(d_.roots[r].value);
    if (g_.is_constant(value)) {
      others.constants.emplace_back(r, value);
    } else if (is_moved(d_.roots[r], value)) {
      const LeafKey from = LeafKey::unpack(g_[value].bits);
      others.moves.push_back({d_.roots[r].key.place, g_[value].op, from.place});
    } else {
      const std::uint32_t part =
          is_private(value) ? find(node_of(value)) : static_cast<std::uint32_t>(size_ + r);
      parts[part].roots.push_back(r);
    }
  }
  for (std::size_t c = 0; c < d_.carried.size(); ++c) {
    if (!is_shared_[c]) parts[find(node_of(d_.carried[c].input))].carried.push_back(c);
  }
  for (const Ref append : m_.appends) parts[find(part_of_list(append))].appends.push_back(append);
  return parts;
}

}  // namespace gdr::native
