// Names of resources.
#include "libgdr/predict/usage.hpp"

namespace gdr::predict {

std::string_view resource_name(Resource resource) noexcept {
  static constexpr std::array<std::string_view, resource_count> names{
      "chip", "ports", "link to board", "link to host", "host", "network"};
  return names[static_cast<std::size_t>(resource)];
}

}  // namespace gdr::predict
