// A kernel over the pairs within a cut-off: what PairSum, Ewald and Sph have in common.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gdr/pairs.hpp"

namespace gdr {

/// The sums of PairSum, whose options it takes and whose errors it throws. Sources may have radii,
/// too: lists then contain the pairs within the sum of both, and a few others, and the kernel
/// decides which of them count.
///
/// On a device of many ranks, only `run` is collective; all ranks have the same settings, except
/// for the radii, which are those of their own targets and sources.
class CutoffSum {
 public:
  CutoffSum(Device& device, const Kernel& kernel, const PairOptions& options);
  ~CutoffSum();
  CutoffSum(CutoffSum&&) noexcept;
  CutoffSum& operator=(CutoffSum&&) noexcept;

  void set(std::string_view name, std::span<const double> values);
  void set(std::string_view name, double value) { set(name, {&value, 1}); }
  void set_cutoff(std::span<const double> radii);
  /// One radius, which is not negative, for each source.
  void set_source_radii(std::span<const double> radii);
  void set_box(const std::optional<PeriodicBox>& box);
  void set_skin(std::optional<double> skin);

  void run(const PairCall& call);
  const PairStatistics& statistics() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
