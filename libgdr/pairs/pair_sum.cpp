// PairSum: a CutoffSum whose calls are collective on a device of many ranks.
#include <string>

#include "gdr/pairs.hpp"
#include "libgdr/pairs/cutoff_sum.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {

struct PairSum::Impl {
  RankGroup* ranks;  ///< ranks of the device; null if it has one process
  CutoffSum sum;
};

PairSum::PairSum(Device& device, const Kernel& kernel, const PairOptions& options) {
  RankGroup* const ranks = DeviceRanks::group(device);
  collectively(ranks, "PairSum", [&] {
    impl_ = std::make_unique<Impl>(Impl{ranks, CutoffSum(device, kernel, options)});
  });
}
PairSum::~PairSum() = default;
PairSum::PairSum(PairSum&&) noexcept = default;
PairSum& PairSum::operator=(PairSum&&) noexcept = default;

void PairSum::set(std::string_view name, std::span<const double> values) {
  collectively(impl_->ranks, "PairSum::set", [&] { impl_->sum.set(name, values); });
}

void PairSum::set_cutoff(std::span<const double> radii) {
  collectively(impl_->ranks, "PairSum::set_cutoff", [&] { impl_->sum.set_cutoff(radii); });
}

void PairSum::set_box(const std::optional<PeriodicBox>& box) {
  collectively(impl_->ranks, "PairSum::set_box", [&] { impl_->sum.set_box(box); });
}

void PairSum::run(const PairCall& call) { impl_->sum.run(call); }

PairStatistics PairSum::statistics() const { return impl_->sum.statistics(); }

}  // namespace gdr
