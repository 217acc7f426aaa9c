// The ranks of a device as the processes that share the groups of a tree.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "libgdr/ranks/collective.hpp"
#include "libgdr/tree/group_share.hpp"

namespace gdr::tree {

/// Each rank computes consecutive groups with about the same number of targets.
class RankShare final : public GroupShare {
 public:
  explicit RankShare(RankGroup& ranks) : ranks_(ranks) {}

  void step(const std::string& name, const std::function<void()>& work) override;
  std::span<const Group> own(std::span<const Group> groups) const override;
  void join(std::span<const Group> groups, void* results, std::size_t row_bytes,
            std::size_t rows) override;
  double add_pairs(double own) override;

  double own_pairs = 0;            ///< pairs that this rank has computed
  std::size_t bytes_received = 0;  ///< results from other ranks

 private:
  RankGroup& ranks_;
};

}  // namespace gdr::tree
