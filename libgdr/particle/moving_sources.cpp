#include "libgdr/compat/grape/moving_sources.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "gdr/error.hpp"

namespace gdr::compat::grape {
namespace {

/// Slots that are nearer to each other than this are sent in one piece.
constexpr std::size_t gap = 16;

}  // namespace

/// Clients may use the slots in any order. The last array that grows is the one whose size is the
/// number of slots: if memory is short, there are as many as before.
void MovingSources::grow(std::size_t n) {
  for (std::vector<double>* column : {&mass_, &sent_mass_}) column->resize(n);
  for (auto* vectors : {&x_, &v_, &half_a_, &sixth_j_, &snap_18th_, &at_, &moving_})
    for (std::vector<double>& column : *vectors) column.resize(n);
  id_.resize(n);
  sent_id_.resize(n);
  is_set_.resize(n, false);
  const std::size_t before = slots();
  time_.resize(n);
  unset_ += n - before;
}

void MovingSources::set(std::size_t slot, const MovingSource& p) {
  if (slot >= slots()) grow(std::max(slot + 1, std::min(2 * slots(), slot + 4096)));
  if (!is_set_[slot]) {
    is_set_[slot] = true;
    --unset_;
  }
  time_[slot] = p.time;
  mass_[slot] = p.mass;
  id_[slot] = p.id;
  for (std::size_t k = 0; k < 3; ++k) {
    x_[k][slot] = p.x[k];
    v_[k][slot] = p.v[k];
    half_a_[k][slot] = p.half_a[k];
    sixth_j_[k][slot] = p.sixth_j[k];
    snap_18th_[k][slot] = p.snap_18th[k];
  }
  changed_.push_back(slot);
}

void MovingSources::predict_range(double time, std::size_t first, std::size_t n) {
  const double* const t = time_.data() + first;
  for (std::size_t k = 0; k < 3; ++k) {
    const double* const x = x_[k].data() + first;
    const double* const v = v_[k].data() + first;
    const double* const a = half_a_[k].data() + first;
    const double* const j = sixth_j_[k].data() + first;
    const double* const s = snap_18th_[k].data() + first;
    double* const at = at_[k].data() + first;
    double* const moving = moving_[k].data() + first;
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
      const double dt = time - t[i];
      at[i] = x[i] + dt * (v[i] + dt * (a[i] + dt * (j[i] + 0.75 * dt * s[i])));
      moving[i] = v[i] + dt * (2 * a[i] + dt * (3 * j[i] + 3 * dt * s[i]));
    }
  }
}

std::vector<NamedInput> MovingSources::arrays(std::size_t first, bool motion,
                                              bool constants) const {
  std::vector<NamedInput> list;
  if (motion)
    list = {{"xj", at_[0].data() + first},      {"yj", at_[1].data() + first},
            {"zj", at_[2].data() + first},      {"vxj", moving_[0].data() + first},
            {"vyj", moving_[1].data() + first}, {"vzj", moving_[2].data() + first}};
  if (constants) {
    list.push_back({"mj", sent_mass_.data() + first});
    list.push_back({"idj", sent_id_.data() + first});
  }
  return list;
}

void MovingSources::predict(Job& job, double time, std::size_t n) {
  const auto first_unset =
      unset_ == 0 ? slots()
                  : static_cast<std::size_t>(std::ranges::find(is_set_, false) - is_set_.begin());
  if (n > first_unset) {
    throw Error(ErrorCategory::Usage, std::to_string(n) +
                                          " j-particles are used, but that of address " +
                                          std::to_string(first_unset) + " was never set");
  }
  std::ranges::sort(changed_);
  const bool all = n != predicted_ || job.source_count() != n;
  const bool moved =
      all || std::bit_cast<std::uint64_t>(time) != std::bit_cast<std::uint64_t>(now_);
  predicted_ = 0;  // until the job has the sources
  // Masses and ids rarely change, positions with every time.
  pieces_.clear();
  for (const std::size_t slot : changed_) {
    const bool same = sent_id_[slot] == id_[slot] && sent_mass_[slot] == mass_[slot];
    if (slot < n && !all && !(moved && same)) pieces_.push_back(slot);
    sent_id_[slot] = id_[slot];
    sent_mass_[slot] = mass_[slot];
  }
  if (moved) predict_range(time, 0, n);
  if (all)
    job.sources(n, arrays(0, true, true));
  else if (moved)
    job.update_sources(0, n, arrays(0, true, false));
  for (std::size_t k = 0; k < pieces_.size();) {
    const std::size_t first = pieces_[k];
    std::size_t end = first + 1;
    for (; k < pieces_.size() && pieces_[k] < end + gap; ++k) end = pieces_[k] + 1;
    if (!moved) predict_range(time, first, end - first);
    job.update_sources(first, end - first, arrays(first, !moved, true));
  }
  changed_.clear();
  now_ = time;
  predicted_ = n;
}

}  // namespace gdr::compat::grape
