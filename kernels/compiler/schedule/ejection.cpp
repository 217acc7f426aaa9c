#include "kernels/compiler/schedule/ejection.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "kernels/compiler/schedule/fixed_sort.hpp"

namespace gdr::kc {
namespace {

/// Steps during which an ejected operation does not return to its row.
constexpr std::size_t tabu_steps = 12;
/// Issue times tried, of those that eject least.
constexpr std::size_t max_tried = 6;

}  // namespace

Ejection::Ejection(const MachineLoop& loop, PartialSchedule& schedule, const IssueWindows& windows,
                   StorageChoice& storage, ChangeLog& log, TieBreaker& random)
    : loop_(loop),
      s_(schedule),
      windows_(windows),
      storage_(storage),
      log_(log),
      random_(random),
      weight_(schedule.op_count(), 1),
      tabu_until_(schedule.op_count() * index(schedule.ii()), 0) {}

/// Weight of the operations that have to go for `op` to issue at `time`, found by slots and
/// dependences alone.
int Ejection::obstacles(std::size_t op, int time, std::vector<std::size_t>& out) const {
  out.clear();
  const auto add = [&](std::size_t other) {
    if (std::ranges::count(out, other) == 0) out.push_back(other);
  };
  const std::int32_t occupant = s_.occupant(s_.row_of(time), s_.slot_of(op));
  if (occupant != none) add(index(occupant));
  windows_.for_scheduled_before(op, [&](std::size_t other, int from) {
    if (time < from) add(other);
  });
  windows_.for_scheduled_after(op, [&](std::size_t other, int to) {
    if (time > to) add(other);
  });
  close_.clear();
  if (windows_.accumulator_too_close(op, time, &close_))
    for (const std::size_t other : close_) add(other);
  int sum = 0;
  for (const std::size_t other : out) sum += weight_[other];
  return sum;
}

/// Issue times in and near the window of an operation, those with the least obstacles first.
void Ejection::find_candidates(std::size_t op, std::uint64_t step) {
  const int first = windows_.first_time(op), last = windows_.last_time(op);
  Window w = windows_.window(op);
  if (w.from > w.to) std::swap(w.from, w.to);
  const int margin = std::max(2, s_.ii() / 20);
  const int from = std::clamp(w.from - margin, first, std::max(first, last));
  const int to =
      std::clamp(std::min(w.to + margin, from + 2 * s_.ii()), from, std::max(from, last));
  candidates_.clear();
  for (int t = from; t <= to; ++t) {
    if (tabu_until(op, t) > step) continue;
    const int cost = obstacles(op, t, ejected_);
    const int outside = t < w.from ? w.from - t : t > w.to ? t - w.to : 0;
    candidates_.push_back({16 * cost + outside + static_cast<int>(random_.below(8)), t});
  }
  if (candidates_.empty())
    candidates_.push_back({0, from + static_cast<int>(random_.below(index(to - from + 1)))});
  fixed_sort(std::span(candidates_),
             [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
}

bool Ejection::place(std::size_t op, std::uint64_t step, std::vector<std::size_t>& waiting) {
  find_candidates(op, step);
  int best_cost = std::numeric_limits<int>::max();
  for (std::size_t k = 0; k < candidates_.size() && k < max_tried; ++k) {
    const Candidate& c = candidates_[k];
    if (c.cost >= best_cost) break;
    log_.clear();
    const int cost = 16 * force(op, c.time, best_cost / 16) + c.cost % 16;
    if (cost < best_cost) {
      best_cost = cost;
      log_.copy_made(best_);
    }
    if (stuck_) return false;
    log_.roll_back();
  }
  log_.clear();
  log_.repeat(best_);
  for (const Change& c : log_.replaced()) {
    const std::size_t other = index(c.id);
    if (!c.is_time || other == op || s_.is_scheduled(other)) continue;
    ++weight_[other];
    tabu_until(other, c.time) = step + tabu_steps + random_.below(tabu_steps / 2) + waiting.size();
    waiting.push_back(other);
  }
  return true;
}

/// Place the operation at `time`, and eject what is in the way, until the weight of these
/// operations exceeds `limit`; returns that weight.
int Ejection::force(std::size_t op, int time, int limit) {
  int sum = obstacles(op, time, ejected_);
  for (const std::size_t other : ejected_) log_.remove(other);
  log_.place(op, time);
  while (sum <= limit && !storage_.repair(op)) {
    const std::size_t other = worst_neighbour(op);
    if (other == s_.op_count()) {
      stuck_ = true;
      return sum;
    }
    sum += weight_[other];
    log_.remove(other);
  }
  return sum;
}

std::size_t Ejection::worst_neighbour(std::size_t op) {
  neighbours_.clear();
  const auto add = [&](std::size_t other) {
    if (other != op && s_.is_scheduled(other) && std::ranges::count(neighbours_, other) == 0)
      neighbours_.push_back(other);
  };
  for (std::size_t row = 0; row < index(s_.ii()); ++row) {
    if (s_.row_violations(row) == 0) continue;
    for (std::size_t slot = 0; slot < slot_count; ++slot)
      if (const std::int32_t other = s_.occupant(row, slot); other != none) add(index(other));
  }
  const auto values = op < s_.op_count() ? s_.values_of(op) : std::span<const ValueId>{};
  for (const ValueId v : values) {
    for (const OpId d : loop_.value(v).defs) add(index(d));
    for (const OpId u : loop_.value(v).uses) add(index(u));
    if (loop_.value(v).origin == Origin::Field) add(s_.load_of(v));
  }
  const int before = s_.violations();
  std::size_t best = s_.op_count();
  double best_gain = 0;
  const auto weigh = [&](std::size_t other) {
    // Not even without all violations would this one be better.
    if (best != s_.op_count() && before <= best_gain * weight_[other]) return;
    const int t = s_.time(other);
    s_.remove(other);
    const double gain = (before - s_.violations()) / static_cast<double>(weight_[other]);
    s_.place(other, t);
    if (best == s_.op_count() || gain > best_gain) {
      best = other;
      best_gain = gain;
    }
  };
  for (const std::size_t other : neighbours_) weigh(other);
  if (best == s_.op_count() || best_gain <= 0)
    for (std::size_t other = 0; other < s_.op_count(); ++other)
      if (other != op && s_.is_scheduled(other)) weigh(other);
  return best;
}

void Ejection::eject(std::size_t op, std::uint64_t until_step, std::vector<std::size_t>& waiting) {
  tabu_until(op, s_.time(op)) = until_step;
  s_.remove(op);
  waiting.push_back(op);
}

}  // namespace gdr::kc
