// Results of targets for parts of their sources, which are joined as the network joins blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/port/loaded_program.hpp"

namespace gdr::native {

/// Words of the network by part, target and result.
class PartialResults {
 public:
  /// Fields of the program's results, which stay where they are.
  explicit PartialResults(const std::vector<PortField>& results) : results_(results) {}

  /// Before the parts of a pass are stored.
  void resize(std::size_t parts, std::uint64_t targets);
  std::size_t parts() const noexcept { return parts_; }
  /// Words of a part, two for each result of its first target.
  std::uint64_t* words(std::size_t part) noexcept { return words_.data() + offset(part, 0); }
  /// Gives `count` targets in parts first + 1 .. first + parts - 1 such words that all of them
  /// joined are those of part `first`.
  void fill_behind(std::size_t first, std::size_t parts, std::uint64_t first_target,
                   std::uint64_t count);
  /// A result of a target, in the order of the parts. Numbers that fit doubles are added as such.
  Long joined(std::uint64_t target, std::size_t result);

 private:
  std::size_t offset(std::size_t part, std::uint64_t target) const noexcept {
    return (part * targets_ + target) * 2 * results_.size();
  }
  void read(std::uint64_t target, std::size_t result, std::vector<Long>& leaves) const;
  bool add_doubles(Long& sum);

  const std::vector<PortField>& results_;
  std::size_t parts_ = 1;
  std::uint64_t targets_ = 0;
  std::vector<std::uint64_t> words_;
  std::vector<Long> leaves_, keys_;
  std::vector<double> numbers_;
};

}  // namespace gdr::native
