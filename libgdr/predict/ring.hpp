// A first-in first-out queue in one array that grows by doubling: std::deque allocates for every
// few elements, and a simulation passes hundreds of millions of packets through.
#pragma once

#include <cstddef>
#include <vector>

namespace gdr::predict {

template <typename Item>
class Ring {
 public:
  bool empty() const noexcept { return count_ == 0; }
  const Item& front() const noexcept { return items_[first_]; }
  const Item& back() const noexcept { return items_[(first_ + count_ - 1) & (items_.size() - 1)]; }
  void push(const Item& item) {
    if (count_ == items_.size()) grow();
    items_[(first_ + count_++) & (items_.size() - 1)] = item;
  }
  void pop() noexcept {
    first_ = (first_ + 1) & (items_.size() - 1);
    --count_;
  }
  void clear() noexcept { count_ = 0; }

 private:
  void grow() {
    std::vector<Item> larger(2 * items_.size());
    for (std::size_t k = 0; k < count_; ++k) larger[k] = items_[(first_ + k) % items_.size()];
    items_.swap(larger);
    first_ = 0;
  }
  std::vector<Item> items_ = std::vector<Item>(64);  // a power of two
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace gdr::predict
