#include "gdr/moving_sources.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>

#include "emulator/host/float_mode.hpp"
#include "emulator/host/for_each_isa.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

using detail::MovingSourceBlock;

/// Slots that are nearer to each other than this are sent in one piece.
constexpr std::size_t gap = 16;

/// The position and velocity of a slot along an axis.
[[gnu::always_inline]] inline void predict_slot(double time, const MovingSourceBlock& p,
                                                std::size_t axis, std::size_t i, double& x,
                                                double& v) {
  const double dt = time - p.time[i];
  const double a = p.half_a[axis][i], j = p.sixth_j[axis][i], s = p.snap_18th[axis][i];
  x = p.x[axis][i] + dt * (p.v[axis][i] + dt * (a + dt * (j + 0.75 * dt * s)));
  v = p.v[axis][i] + dt * (2 * a + dt * (3 * j + 3 * dt * s));
}

/// Positions and velocities of n blocks, of three coordinates each.
GDR_FOR_EACH_ISA void predict_blocks(double time, std::size_t n, const MovingSourceBlock* blocks,
                                     double* const* at, double* const* moving) {
  constexpr std::size_t lanes = MovingSourceBlock::slots;
  for (std::size_t b = 0; b < n; ++b) {
    const MovingSourceBlock& p = blocks[b];
    for (std::size_t k = 0; k < 3; ++k) {
      double *const x = at[k] + lanes * b, *const v = moving[k] + lanes * b;
#pragma omp simd
      for (std::size_t i = 0; i < lanes; ++i) predict_slot(time, p, k, i, x[i], v[i]);
    }
  }
}

void put(MovingSourceBlock& block, std::size_t lane, const MovingSource& p) {
  block.time[lane] = p.time;
  for (std::size_t k = 0; k < 3; ++k) {
    block.x[k][lane] = p.x[k];
    block.v[k][lane] = p.v[k];
    block.half_a[k][lane] = p.half_a[k];
    block.sixth_j[k][lane] = p.sixth_j[k];
    block.snap_18th[k][lane] = p.snap_18th[k];
  }
}

}  // namespace

void detail::LineColumns::resize(std::size_t rows) {
  constexpr std::size_t line = 64 / sizeof(double);
  // The same rows of up to eight columns are in different sets of a cache of 64 sets of lines.
  constexpr std::size_t period = 64 * line, offset = 8 * line;
  LineColumns made(columns_);
  made.rows_ = rows;
  made.pitch_ = (rows + period - 1) / period * period + offset;
  made.values_.resize(line + columns_ * made.pitch_);
  const auto address = std::bit_cast<std::uintptr_t>(made.values_.data()) / sizeof(double);
  made.begin_ = (line - address % line) % line;
  for (std::size_t k = 0; k < columns_; ++k)
    std::copy_n((*this)[k], std::min(rows, rows_), made[k]);
  *this = std::move(made);
}

/// Three columns of a prediction, from column `first` on.
std::array<std::span<const double>, 3> MovingSources::predicted_columns(
    std::size_t first) const noexcept {
  const auto column = [&](std::size_t k) {
    return std::span(at_and_moving_[k], at_and_moving_.rows());
  };
  return {column(first), column(first + 1), column(first + 2)};
}

/// Clients may use the slots in any order. If memory is short, there are as many as before.
void MovingSources::grow(std::size_t n) {
  const std::size_t blocks = (n + MovingSourceBlock::slots - 1) / MovingSourceBlock::slots;
  blocks_.resize(blocks);
  at_and_moving_.resize(blocks * MovingSourceBlock::slots);
  mass_.resize(n);
  id_.resize(n);
  const std::size_t numbered = slot_.size();
  slot_.resize(n);
  std::iota(slot_.begin() + static_cast<std::ptrdiff_t>(numbered), slot_.end(),
            static_cast<std::int64_t>(numbered));
  is_set_.resize(n, false);
  slots_ = n;
}

// The particle of a slot is distributed over many cache lines, which the thread that predicts it
// has read last: that thread stores it.
void MovingSources::set(std::size_t slot, const MovingSource& p) {
  if (slot >= slots()) grow(std::max(slot + 1, std::min(2 * slots(), slot + 4096)));
  if (changes_.size() >= 2 * slots() + gap) drop_replaced_changes();
  particles_.push_back(p);
  changes_.push_back({slot, particles_.size() - 1});
  is_set_[slot] = true;
}

MovingSource MovingSources::get(std::size_t slot) const {
  // The last change, which no prediction has stored.
  const auto change = std::find_if(changes_.rbegin(), changes_.rend(),
                                   [slot](const Change& c) { return c.slot == slot; });
  if (change != changes_.rend()) return particles_[change->particle];
  const MovingSourceBlock& block = blocks_[slot / MovingSourceBlock::slots];
  const std::size_t lane = slot % MovingSourceBlock::slots;
  MovingSource p{.time = block.time[lane], .mass = mass_[slot], .id = id_[slot]};
  for (std::size_t k = 0; k < 3; ++k) {
    p.x[k] = block.x[k][lane];
    p.v[k] = block.v[k][lane];
    p.half_a[k] = block.half_a[k][lane];
    p.sixth_j[k] = block.sixth_j[k][lane];
    p.snap_18th[k] = block.snap_18th[k][lane];
  }
  return p;
}

void MovingSources::sort_changes() {
  if (!std::ranges::is_sorted(changes_, {}, &Change::slot)) std::ranges::sort(changes_);
}

/// Keeps the last change of each slot.
void MovingSources::drop_replaced_changes() {
  sort_changes();
  std::vector<MovingSource> kept;
  std::vector<Change> changes;
  for (std::size_t k = 0; k < changes_.size(); ++k) {
    if (k + 1 < changes_.size() && changes_[k + 1].slot == changes_[k].slot) continue;
    kept.push_back(particles_[changes_[k].particle]);
    changes.push_back({changes_[k].slot, kept.size() - 1});
  }
  particles_.swap(kept);
  changes_.swap(changes);
}

/// Stores the particles that were set in some slots since the last prediction.
void MovingSources::store_changes(std::size_t first, std::size_t n) {
  for (auto change = std::ranges::lower_bound(changes_, first, {}, &Change::slot);
       change != changes_.end() && change->slot < first + n; ++change) {
    const MovingSource& p = particles_[change->particle];
    put(blocks_[change->slot / MovingSourceBlock::slots], change->slot % MovingSourceBlock::slots,
        p);
    mass_[change->slot] = p.mass;
    id_[change->slot] = p.id;
  }
}

void MovingSources::require(double time, std::size_t n) {
  if (!std::isfinite(time))
    throw Error(ErrorCategory::Input,
                "the time of a prediction is " + std::to_string(time) + ", not a finite number");
  while (first_unset_ < slots() && is_set_[first_unset_]) ++first_unset_;
  if (n > first_unset_)
    throw Error(ErrorCategory::Usage, std::to_string(n) +
                                          " j-particles are used, but the one of slot or address " +
                                          std::to_string(first_unset_) + " was never set");
}

/// Other threads may store and predict the other slots of a block at the same time.
void MovingSources::predict_range(double time, std::size_t first, std::size_t n) {
  constexpr std::size_t lanes = MovingSourceBlock::slots;
  const auto predict_some = [&](std::size_t from, std::size_t to) {
    for (std::size_t slot = from; slot < to; ++slot)
      for (std::size_t k = 0; k < 3; ++k)
        predict_slot(time, blocks_[slot / lanes], k, slot % lanes, at_and_moving_[k][slot],
                     at_and_moving_[3 + k][slot]);
  };
  const std::size_t behind = first + n;
  const std::size_t begin = (first + lanes - 1) / lanes, end = behind / lanes;
  if (begin >= end) return predict_some(first, behind);
  predict_some(first, begin * lanes);
  predict_some(end * lanes, behind);
  std::array<double*, 3> at{}, moving{};
  for (std::size_t k = 0; k < 3; ++k) {
    at[k] = at_and_moving_[k] + begin * lanes;
    moving[k] = at_and_moving_[3 + k] + begin * lanes;
  }
  predict_blocks(time, end - begin, blocks_.data() + begin, at.data(), moving.data());
}

std::span<const NamedInput> MovingSources::arrays(std::size_t first) {
  arrays_.clear();
  const auto add = [&](const std::string& name, const auto& values) {
    if (!name.empty()) arrays_.push_back({name, values + first});
  };
  for (std::size_t k = 0; k < 3; ++k) add(names_.x[k], at_and_moving_[k]);
  for (std::size_t k = 0; k < 3; ++k) add(names_.v[k], at_and_moving_[3 + k]);
  add(names_.mass, mass_.data());
  add(names_.id, id_.data());
  add(names_.slot, slot_.data());
  return arrays_;
}

std::vector<NamedInput> MovingSources::polynomials(std::size_t first, std::size_t n) {
  struct Member {
    const std::array<std::string, 3>& names;
    std::array<MovingSourceBlock::Values, 3> MovingSourceBlock::*values;
  };
  const Member members[] = {{names_.x, &MovingSourceBlock::x},
                            {names_.v, &MovingSourceBlock::v},
                            {names_.half_a, &MovingSourceBlock::half_a},
                            {names_.sixth_j, &MovingSourceBlock::sixth_j},
                            {names_.snap_18th, &MovingSourceBlock::snap_18th}};
  polynomials_.resize((1 + 3 * std::size(members)) * n);
  std::vector<NamedInput> list;
  double* column = polynomials_.data();
  const auto add = [&](const std::string& name, const auto& values_of) {
    if (name.empty()) return;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t slot = first + k;
      column[k] =
          values_of(blocks_[slot / MovingSourceBlock::slots])[slot % MovingSourceBlock::slots];
    }
    list.push_back({name, column});
    column += n;
  };
  add(
      names_.time, [](const MovingSourceBlock& b) -> const auto& { return b.time; });
  for (const Member& m : members)
    for (std::size_t k = 0; k < 3; ++k)
      add(
          m.names[k], [&](const MovingSourceBlock& b) -> const auto& { return (b.*m.values)[k]; });
  const auto add_rest = [&](const std::string& name, const auto& values) {
    if (!name.empty()) list.push_back({name, values.data() + first});
  };
  add_rest(names_.mass, mass_);
  add_rest(names_.id, id_);
  add_rest(names_.slot, slot_);
  return list;
}

template <typename Send>
void MovingSources::send_changed(std::size_t end, Send send) {
  for (std::size_t k = 0; k < changes_.size() && changes_[k].slot < end;) {
    const std::size_t first = changes_[k].slot;
    std::size_t behind = first + 1;
    for (; k < changes_.size() && changes_[k].slot < std::min(end, behind + gap); ++k)
      behind = changes_[k].slot + 1;
    send(first, behind - first);
  }
}

/// Predicts slots, whose changes are sorted, for a transfer.
std::function<void(std::size_t, std::size_t)> MovingSources::filler(double time) {
  return [this, time](std::size_t first, std::size_t count) {
    store_changes(first, count);
    predict_range(time, first, count);
  };
}

/// `resident`: the job has the particles, and needs those that were set since.
void MovingSources::send(Job& job, double time, std::size_t n, bool resident) {
  sort_changes();
  if (!on_device_ && !resident) {
    store_changes(n, slots() - n);
    return job.fill_sources(n, arrays(0), filler(time));
  }
  store_changes(0, slots());
  if (on_device_) {
    job.set(names_.now, time);
    if (!resident)
      job.sources(n, polynomials(0, n));
    else
      send_changed(n, [&](std::size_t first, std::size_t count) {
        job.update_sources(first, count, polynomials(first, count));
      });
  } else {
    send_changed(n, [&](std::size_t first, std::size_t count) {
      predict_range(time, first, count);
      job.update_sources(first, count, arrays(first));
    });
  }
}

template <typename Send>
void MovingSources::predict_by(Job& job, double time, std::size_t n, Send send) {
  const HostFloatMode mode;
  require(time, n);
  const bool moved = std::bit_cast<std::uint64_t>(time) != std::bit_cast<std::uint64_t>(now_);
  const bool resident = &job == job_ && n == predicted_ && job.source_count() == n &&
                        on_device_ == was_on_device_ && (on_device_ || !moved);
  predicted_ = 0;  // until the job has the sources
  try {
    send(resident);
  } catch (const Error& error) {
    // A kernel of the other kind lacks or wants the variables of the prediction.
    const std::string message = error.what();
    const auto& name = on_device_ ? names_.now : names_.time;
    if (error.category() != ErrorCategory::Usage ||
        message.find('"' + name + '"') == std::string::npos)
      throw;
    throw Error(
        error.category(),
        message + (on_device_ ? "; predict_on_device is on, and needs a kernel that predicts"
                              : "; for a kernel that predicts, call predict_on_device(true)"));
  }
  changes_.clear();
  particles_.clear();
  job_ = &job;
  now_ = time;
  predicted_ = n;
  was_on_device_ = on_device_;
}

void MovingSources::predict(Job& job, double time, std::size_t n) {
  predict_by(job, time, n, [&](bool resident) { send(job, time, n, resident); });
}

void MovingSources::run(Job& job, double time, std::size_t n,
                        std::span<const NamedResult> results) {
  predict(job, time, n);
  job.run(results);
}

void MovingSources::predict_on_host() {
  const HostFloatMode mode;
  if (was_on_device_) predict_range(now_, 0, predicted_);
}

void MovingSources::resend(Job& job) {
  predict_on_host();
  job.sources(predicted_, arrays(0));
}

}  // namespace gdr
