#include "gdr/moving_sources.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "emulator/host/for_each_isa.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Slots that are nearer to each other than this are sent in one piece.
constexpr std::size_t gap = 16;

/// One coordinate of n particles: positions to `at`, velocities to `moving`. `t`: the particles'
/// times; `a`, `j`, `s`: their coefficients.
GDR_FOR_EACH_ISA void predict_coordinate(double time, std::size_t n, const double* t,
                                         const double* x, const double* v, const double* a,
                                         const double* j, const double* s, double* at,
                                         double* moving) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    const double dt = time - t[i];
    at[i] = x[i] + dt * (v[i] + dt * (a[i] + dt * (j[i] + 0.75 * dt * s[i])));
    moving[i] = v[i] + dt * (2 * a[i] + dt * (3 * j[i] + 3 * dt * s[i]));
  }
}

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

void MovingSources::require_set(std::size_t n) const {
  const auto first_unset =
      unset_ == 0 ? slots()
                  : static_cast<std::size_t>(std::ranges::find(is_set_, false) - is_set_.begin());
  if (n > first_unset)
    throw Error(ErrorCategory::Usage, std::to_string(n) +
                                          " j-particles are used, but that of address " +
                                          std::to_string(first_unset) + " was never set");
}

void MovingSources::predict_range(double time, std::size_t first, std::size_t n) {
  for (std::size_t k = 0; k < 3; ++k)
    predict_coordinate(time, n, time_.data() + first, x_[k].data() + first, v_[k].data() + first,
                       half_a_[k].data() + first, sixth_j_[k].data() + first,
                       snap_18th_[k].data() + first, at_[k].data() + first,
                       moving_[k].data() + first);
}

std::vector<NamedInput> MovingSources::arrays(std::size_t first) const {
  std::vector<NamedInput> list;
  const auto add = [&](const std::string& name, const auto& values) {
    if (!name.empty()) list.push_back({name, values.data() + first});
  };
  for (std::size_t k = 0; k < 3; ++k) add(names_.x[k], at_[k]);
  for (std::size_t k = 0; k < 3; ++k) add(names_.v[k], moving_[k]);
  add(names_.mass, sent_mass_);
  add(names_.id, sent_id_);
  return list;
}

void MovingSources::predict(Job& job, double time, std::size_t n) {
  require_set(n);
  for (const std::size_t slot : changed_) {
    sent_id_[slot] = id_[slot];
    sent_mass_[slot] = mass_[slot];
  }
  const bool moved = std::bit_cast<std::uint64_t>(time) != std::bit_cast<std::uint64_t>(now_);
  const bool all = moved || &job != job_ || n != predicted_ || job.source_count() != n;
  predicted_ = 0;  // until the job has the sources
  if (all) {
    predict_range(time, 0, n);
    job.sources(n, arrays(0));
  } else {
    std::ranges::sort(changed_);
    for (std::size_t k = 0; k < changed_.size() && changed_[k] < n;) {
      const std::size_t first = changed_[k];
      std::size_t end = first + 1;
      for (; k < changed_.size() && changed_[k] < std::min(n, end + gap); ++k)
        end = changed_[k] + 1;
      predict_range(time, first, end - first);
      job.update_sources(first, end - first, arrays(first));
    }
  }
  changed_.clear();
  job_ = &job;
  now_ = time;
  predicted_ = n;
}

}  // namespace gdr
