// Cut-offs of a kernel with periodic images, compared with the box that its parameters give.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gdr/kernel.hpp"
#include "kernels/compiler/image_limits.hpp"

namespace gdr {

/// The limits of a kernel, with its parameters by index.
class ImageCheck {
 public:
  explicit ImageCheck(const Kernel& kernel);

  /// Throws Error (Input) if a limit exceeds half of the shortest edge, beyond which pairs have
  /// further images. `params`: two words for each parameter, the first with the host's bits.
  void check(std::span<const std::uint64_t> params) const;

 private:
  struct Product {
    double factor;
    std::vector<std::size_t> parameters;
    std::string text;
  };
  struct Limit {
    std::vector<Product> edges;
    bool squared;
    Product limit;
  };
  static const std::vector<ImageLimit>& limits_of(const Kernel& kernel);
  Product resolved(const Kernel& kernel, const ParameterProduct& product);
  double value(const Product& product, std::span<const std::uint64_t> params) const;

  std::string kernel_;
  std::vector<HostNumber> types_;  ///< types of the parameters
  std::vector<Limit> limits_;
};

}  // namespace gdr
