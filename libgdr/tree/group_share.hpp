// What a calculation with a tree needs from the processes that share it. Each of them has all
// particles, makes the same tree and the same choices, and computes a share of the groups.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "libgdr/tree/octree.hpp"

namespace gdr::tree {

class GroupShare {
 public:
  virtual ~GroupShare() = default;
  /// Takes a step in every process, and throws in all of them if it throws in one, or if `name`,
  /// with the choices so far, differs.
  virtual void step(const std::string& name, const std::function<void()>& work) = 0;
  /// The groups that this process computes, consecutive ones.
  virtual std::span<const Group> own(std::span<const Group> groups) const = 0;
  /// Completes results of consecutive groups, `rows` of so many bytes in the order of the groups,
  /// of which each process has those of its groups.
  virtual void join(std::span<const Group> groups, void* results, std::size_t row_bytes,
                    std::size_t rows) = 0;
  /// Adds up the numbers of pairs that the processes have computed.
  virtual double add_pairs(double own) = 0;
};

/// A step of all processes, or of this one if there is no share.
template <typename Work>
void in_step(GroupShare* share, const std::string& name, const Work& work) {
  if (share != nullptr)
    share->step(name, work);
  else
    work();
}

}  // namespace gdr::tree
