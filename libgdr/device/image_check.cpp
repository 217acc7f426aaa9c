#include "libgdr/device/image_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Relative rounding of limits that users compute from half of an edge.
constexpr double limit_rounding = 1e-6;

}  // namespace

ImageCheck::ImageCheck(const Kernel& kernel) {
  const std::vector<ImageLimit>& limits = limits_of(kernel);
  if (limits.empty()) return;
  kernel_ = kernel.name();
  for (const KernelVariable& v : kernel.variables())
    if (v.role == Role::Param) types_.push_back(v.type);
  for (const ImageLimit& limit : limits) {
    Limit one{{}, limit.squared, resolved(kernel, limit.limit)};
    for (const ParameterProduct& edge : limit.edges) one.edges.push_back(resolved(kernel, edge));
    limits_.push_back(std::move(one));
  }
}

ImageCheck::Product ImageCheck::resolved(const Kernel& kernel, const ParameterProduct& product) {
  Product found{product.factor, {}, {}};
  if (product.factor != 1 || product.parameters.empty())
    found.text = fmt::format("{:g}", product.factor);
  for (const std::string& name : product.parameters) {
    std::size_t index = 0;
    for (const KernelVariable& v : kernel.variables()) {
      if (v.role != Role::Param) continue;
      if (v.name == name) break;
      ++index;
    }
    found.parameters.push_back(index);
    found.text += (found.text.empty() ? "" : "*") + name;
  }
  return found;
}

double ImageCheck::value(const Product& product, std::span<const std::uint64_t> params) const {
  double value = product.factor;
  for (const std::size_t k : product.parameters) {
    if (k >= types_.size()) return std::numeric_limits<double>::quiet_NaN();
    const std::uint64_t bits = params[2 * k];
    switch (types_[k]) {
      case HostNumber::F64:
        value *= std::bit_cast<double>(bits);
        break;
      case HostNumber::F32:
        value *= static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        break;
      case HostNumber::I64:
        value *= static_cast<double>(static_cast<std::int64_t>(bits));
        break;
      default:
        return std::numeric_limits<double>::quiet_NaN();
    }
  }
  return value;
}

void ImageCheck::check(std::span<const std::uint64_t> params) const {
  for (const Limit& one : limits_) {
    const Product* shortest = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (const Product& edge : one.edges) {
      const double length = std::abs(value(edge, params));
      if (!(length > 0) || !(length < least)) continue;  // an edge of 0 has no images
      least = length;
      shortest = &edge;
    }
    const double given = value(one.limit, params);
    if (shortest == nullptr || !(given > 0)) continue;
    const double distance = one.squared ? std::sqrt(given) : given;
    if (!(distance > (1 + limit_rounding) * least / 2)) continue;
    throw Error(
        ErrorCategory::Input,
        fmt::format("kernel {}: periodic images are complete up to a distance of {:.6g}, "
                    "half of the shortest edge ({} = {:.6g}), and the limit {} is {:.6g}{}: "
                    "pairs with further images would be lost; take a smaller cut-off, or a "
                    "larger box with copies of its particles",
                    kernel_, least / 2, shortest->text, least, one.limit.text, given,
                    one.squared ? fmt::format(", the square of {:.6g}", distance) : ""));
  }
}

}  // namespace gdr
