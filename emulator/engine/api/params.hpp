// The parameters of a program that were set in a chip.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gdr {

/// Words of parameters by number. An array, since each run compares the parameters of all chips.
class Params {
 public:
  static constexpr std::size_t max_words = 2;  ///< words of a parameter: 72 bits at most

  /// `words`: the words of the parameter's record, one or two.
  void set(std::uint32_t variable, std::span<const std::uint64_t> words) {
    if (variable >= params_.size()) params_.resize(variable + std::size_t{1});
    Param& param = params_[variable];
    param.count = std::min(words.size(), max_words);
    std::copy_n(words.begin(), param.count, param.words.begin());
  }
  void clear() noexcept { params_.clear(); }
  /// The words of a parameter; none if it was not set.
  std::span<const std::uint64_t> words(std::uint32_t variable) const noexcept {
    if (variable >= params_.size()) return {};
    const Param& param = params_[variable];
    return std::span(param.words).first(param.count);
  }
  /// Calls visit(variable, words) for those that were set.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t variable = 0; variable < params_.size(); ++variable)
      if (params_[variable].count != 0) visit(variable, words(variable));
  }

  friend bool operator==(const Params&, const Params&) = default;

 private:
  struct Param {
    std::size_t count = 0;
    std::array<std::uint64_t, max_words> words{};
    friend bool operator==(const Param&, const Param&) = default;
  };
  std::vector<Param> params_;
};

}  // namespace gdr
