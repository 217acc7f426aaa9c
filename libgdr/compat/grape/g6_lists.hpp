// Neighbour lists of libg6: chosen on the host from those of the device, or found there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gdr/device.hpp"
#include "gdr/moving_sources.hpp"
#include "libgdr/compat/grape/g6_targets.hpp"

namespace gdr::compat::grape {

/// The lists of one calculation.
class NeighbourLists {
 public:
  /// For fewer i-particles the host finds lists in less time: a device processes as many at once.
  /// Measured beside 1024 and 16384 j-particles, relative to calls without lists: 1.2 for one, 1.5
  /// for four, 2.0 for eight and 2.5 for sixteen on the host; 2.2, 2.4, 2.3 and 1.8 on the device.
  static constexpr std::size_t min_on_device = 12;
  /// Lists of more i-particles, 100 MB, are not made by the device.
  static constexpr std::size_t max_on_device = 1 << 16;

  /// Begins a calculation, which has no lists yet.
  void clear() noexcept { made_ = false; }
  /// Radii for a device that makes the lists of these targets.
  void set_radii(const KeptTargets& targets);
  /// Inputs and results of the kernels with lists, for this number of targets.
  void add_inputs(std::vector<NamedInput>& to) const;
  void add_results(std::size_t targets, std::vector<NamedResult>& to);

  /// Where lists come from.
  struct Source {
    bool device = false;    ///< the calculation was that of a kernel with lists
    bool softened = false;  ///< distances contain the softening
  };
  /// Makes the lists, beside the particles of the last prediction.
  void make(const KeptTargets& targets, MovingSources& sources, Source from);
  bool are_made() const noexcept { return made_; }
  /// Whether the device can hold most of these lists.
  bool fit_device(const KeptTargets& targets) const noexcept;
  const std::vector<int>& of(std::size_t i) const noexcept { return lists_[i]; }

 private:
  bool listed_by_device(const KeptTargets& targets, std::size_t i, Source from) const;
  void make_one(const KeptTargets& targets, const MovingSources& sources, std::size_t i,
                Source from);

  bool made_ = false;
  std::vector<double> radius2_;                  ///< squared radii of the device's lists
  std::vector<std::int64_t> near_count_, near_;  ///< slots of sources, a row for each target
  std::vector<std::vector<int>> lists_;
};

/// Whether a client asks for lists, so that the device makes them with the next calculation.
class ListDemand {
 public:
  /// The client has asked; `worthwhile`: the device can hold most of its lists.
  void asked(bool worthwhile) noexcept;
  /// A calculation has begun. After some whose lists it did not ask for, the client asks no more.
  void count_calculation() noexcept;
  bool is_expected() const noexcept { return expected_; }

 private:
  bool expected_ = false;
  unsigned calculations_ = 0;  ///< calculations since the client asked
};

}  // namespace gdr::compat::grape
