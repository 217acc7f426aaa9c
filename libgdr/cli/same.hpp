// Ranks that were not given the same: another file under the same name on one node, another option
// in one rank's command line. Nothing fails by itself then, and the numbers are wrong.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>

#include "libgdr/io/snapshot.hpp"

namespace gdr::cli {

/// Tells whether two things are the same (FNV-1a over their bits).
class Digest {
 public:
  template <typename T>
  Digest& add(std::span<const T> values) {
    static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>);
    const std::uint64_t count = values.size();
    mix(&count, sizeof count);
    mix(values.data(), values.size_bytes());
    return *this;
  }
  template <typename T>
  Digest& add(const T& value) {
    return add(std::span<const T>(&value, 1));
  }
  Digest& add(std::string_view text) { return add(std::span<const char>(text)); }
  std::uint64_t value() const noexcept { return hash_; }

 private:
  void mix(const void* data, std::size_t bytes) noexcept;
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

Digest digest_of(const Snapshot& snapshot);

/// What all ranks must have alike.
struct Given {
  std::string_view what;  ///< "has another --eps": said of a rank that has not
  Digest digest;
};
/// Collective. Throws on all ranks (Usage) if one has something else than the first.
void same_on_ranks(std::initializer_list<Given> things);

}  // namespace gdr::cli
