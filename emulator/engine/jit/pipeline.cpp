#include "emulator/engine/jit/pipeline.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "emulator/engine/jit/order.hpp"

namespace gdr::jit {
namespace {

constexpr std::uint32_t nobody = ~std::uint32_t{0};
/// Vector operations that hosts begin in a clock.
constexpr int a_clock = 2;

/// By value: the operation that makes it, or nobody.
std::vector<std::uint32_t> makers(const Block& block) {
  std::vector<std::uint32_t> made_by(block.values.size(), nobody);
  for (std::uint32_t n = 0; n < block.code.size(); ++n)
    if (block.code[n].to != no_value) made_by[block.code[n].to] = n;
  return made_by;
}

/// Vector units are busy for so many clocks with an operation.
int units(Op op) {
  if (op == Op::Load || op == Op::Store) return 0;
  if (op == Op::RsqrtEstimate || op == Op::RecipEstimate) return 2;
  return op == Op::Divide || op == Op::Sqrt ? 16 : 1;
}

/// Makes a mask anew for each of its readers: masks do not cross from stage to stage.
Block with_own_masks(const Block& block) {
  const std::vector<std::uint32_t> made_by = makers(block);
  std::vector<bool> is_read(block.values.size(), false);
  Block made;
  made.values = block.values;
  made.carried = block.carried;
  // The operands of an operation, and before it the masks that others have read before.
  const auto add = [&](const auto& self, Operation o) -> void {
    for (ValueId* v : {&o.mask, &o.in[0], &o.in[1], &o.in[2], &o.otherwise}) {
      if (*v == no_value || block.values[*v].type != Type::Mask || made_by[*v] == nobody) continue;
      Operation copy = block.code[made_by[*v]];
      if (is_read[*v]) copy.to = made.add_value(block.values[*v]);
      is_read[*v] = true;
      *v = copy.to;
      self(self, copy);
    }
    made.code.push_back(o);
  };
  for (const Operation& o : block.code)
    if (o.to == no_value || block.values[o.to].type != Type::Mask) add(add, o);
  return made;
}

/// Where an operation is placed: as late as its readers allow, so that values are short-lived, or
/// as early as its operands allow, so that few operations of long chains are in the second stage.
enum class Placing : std::uint8_t { Late, Early };

/// Times are clocks from the beginning of an iteration.
class Scheduler {
 public:
  Scheduler(const Block& block, Placing placing)
      : b_(block),
        placing_(placing),
        made_by_(makers(block)),
        users_(block.code.size()),
        carried_of_(block.values.size(), nobody),
        time_(block.code.size(), unplaced) {
    for (std::uint32_t c = 0; c < b_.carried.size(); ++c) carried_of_[b_.carried[c].in] = c;
    for (std::uint32_t n = 0; n < b_.code.size(); ++n) {
      work_ += units(b_.code[n].op);
      each_operand(b_.code[n], [&](ValueId v) {
        if (made_by_[v] != nobody) users_[made_by_[v]].push_back(n);
      });
    }
  }

  std::optional<PipelineSchedule> run() {
    const int least = std::max(1, (work_ + a_clock - 1) / a_clock);
    if (!is_divisible() || longest_way(b_) <= least) return std::nullopt;
    // Where operations do not fit the gaps that others leave, iterations begin a little later.
    for (interval_ = least; interval_ <= least + least / 4; ++interval_)
      if (placing_ == Placing::Late ? place_late() : place_early())
        if (std::optional<PipelineSchedule> made = divided()) return made;
    return std::nullopt;
  }

 private:
  static constexpr int unplaced = std::numeric_limits<int>::min();

  bool is_mask(std::uint32_t n) const {
    return b_.code[n].to != no_value && b_.values[b_.code[n].to].type == Type::Mask;
  }

  /// Carried values stay in registers, and are made in the iteration.
  bool is_divisible() const {
    const auto has_effect = [](const Operation& o) {
      return o.op == Op::Store || o.op == Op::Append || o.op == Op::Collect || o.op == Op::Gather;
    };
    return std::ranges::none_of(b_.code, has_effect) &&
           std::ranges::all_of(b_.carried,
                               [&](const Carried& c) { return made_by_[c.out] != nobody; });
  }

  /// The operation that makes a value, a carried one in the iteration before.
  std::uint32_t maker_of(ValueId v) const {
    return made_by_[carried_of_[v] != nobody ? b_.carried[carried_of_[v]].out : v];
  }

  void clear() {
    used_.assign(static_cast<std::size_t>(interval_), 0);
    std::ranges::fill(time_, unplaced);
  }

  bool place_late() {
    clear();
    for (std::uint32_t n = static_cast<std::uint32_t>(b_.code.size()); n-- > 0;) {
      int latest = 2 * interval_ - 1;
      for (const std::uint32_t user : users_[n])
        latest = std::min(latest, time_[user] - latency(b_.code[n].op));
      int t = latest;
      for (const int earliest = ready(n, time_); t >= earliest && !is_free(n, t);) --t;
      if (t < 0 || !place(n, t)) return false;
    }
    return true;
  }

  /// Carried values are made by later operations: their times are those of the round before.
  bool place_early() {
    constexpr int rounds = 3;
    std::vector<int> before(time_.size(), unplaced);
    for (int round = 0; round < rounds; ++round) {
      clear();
      for (std::uint32_t n = 0; n < b_.code.size(); ++n) {
        int t = std::max(ready(n, time_), ready(n, before));
        while (t < 2 * interval_ && !is_free(n, t)) ++t;
        if (t >= 2 * interval_ || !place(n, t)) return false;
      }
      before = time_;
    }
    return true;
  }

  /// The clock at which the operands are there that are made by operations with a time. A carried
  /// value is that of the previous iteration, which began an interval earlier.
  int ready(std::uint32_t n, const std::vector<int>& time) const {
    int clock = 0;
    each_operand(b_.code[n], [&](ValueId v) {
      const bool is_carried = carried_of_[v] != nobody;
      const std::uint32_t maker = maker_of(v);
      if (maker == nobody || maker == n || time[maker] == unplaced) return;
      const int made = time[maker] + latency(b_.code[maker].op);
      clock = std::max(clock, is_carried ? made - interval_ : made);
    });
    return clock;
  }

  bool is_free(std::uint32_t n, int t) const {
    if (t < 0) return false;
    const int busy = units(b_.code[n].op), used = used_[static_cast<std::size_t>(t % interval_)];
    return busy == 0 || used == 0 || used + busy <= a_clock;
  }
  bool place(std::uint32_t n, int t) {
    if (!is_free(n, t)) return false;
    used_[static_cast<std::size_t>(t % interval_)] += units(b_.code[n].op);
    time_[n] = t;
    return true;
  }

  /// Begins the second stage where the fewest values cross.
  std::optional<PipelineSchedule> divided() const {
    const int first = *std::ranges::min_element(time_);
    std::optional<PipelineSchedule> best;
    for (int begin = interval_; begin <= interval_ + first; ++begin) {
      std::optional<PipelineSchedule> made = divided_at(begin);
      if (made && (!best || made->crossing.size() < best->crossing.size())) best = std::move(made);
    }
    return best;
  }

  std::optional<PipelineSchedule> divided_at(int begin) const {
    PipelineSchedule made;
    made.late.resize(b_.code.size());
    for (std::uint32_t n = 0; n < b_.code.size(); ++n) made.late[n] = time_[n] >= begin;
    if (!keeps_masks(made.late) || !keeps_carried_values(made.late)) return std::nullopt;
    std::vector<bool> crosses(b_.values.size(), false);
    for (std::uint32_t n = 0; n < b_.code.size(); ++n)
      if (made.late[n])
        each_operand(b_.code[n], [&](ValueId v) {
          const std::uint32_t maker = maker_of(v);
          if (maker != nobody && !made.late[maker]) crosses[v] = true;
        });
    for (ValueId v = 0; v < crosses.size(); ++v)
      if (crosses[v]) made.crossing.push_back(v);
    made.order.resize(b_.code.size());
    std::iota(made.order.begin(), made.order.end(), 0U);
    std::ranges::stable_sort(made.order, {}, [&](std::uint32_t n) {
      return made.late[n] ? time_[n] - interval_ : time_[n];
    });
    return made;
  }

  /// Masks do not cross, because only vectors are carried.
  bool keeps_masks(const std::vector<bool>& late) const {
    for (std::uint32_t n = 0; n < b_.code.size(); ++n)
      if (is_mask(n) && !late[n] &&
          std::ranges::any_of(users_[n], [&](std::uint32_t user) { return late[user]; }))
        return false;
    return true;
  }

  /// Early operations read what late ones of the previous iteration have made just before them.
  bool keeps_carried_values(const std::vector<bool>& late) const {
    bool good = true;
    for (std::uint32_t n = 0; n < b_.code.size(); ++n)
      each_operand(b_.code[n], [&](ValueId v) {
        const std::uint32_t maker = maker_of(v);
        if (carried_of_[v] != nobody && !late[n] && late[maker])
          good = good && time_[maker] - interval_ < time_[n];
      });
    return good;
  }

  const Block& b_;
  const Placing placing_;
  const std::vector<std::uint32_t> made_by_;       ///< operation that makes each value
  std::vector<std::vector<std::uint32_t>> users_;  ///< readers of the result of each operation
  std::vector<std::uint32_t> carried_of_;          ///< the carried value that each value begins
  std::vector<int> time_;                          ///< clock of each operation
  int work_ = 0;                                   ///< clocks of the vector units
  int interval_ = 1;                               ///< clocks from iteration to iteration
  std::vector<int> used_;                          ///< busy units in each clock of the interval
};

/// Makes the three blocks.
class Pipeliner {
 public:
  Pipeliner(const PipelineSchedule& schedule, const std::function<Place(Place)>& earlier,
            const std::function<Place(std::size_t)>& place)
      : b_(schedule.block),
        s_(schedule),
        earlier_(earlier),
        place_(place),
        made_by_(makers(schedule.block)) {}

  PipelinedLoop run() const { return {first(), loop(), last()}; }

 private:
  /// The names of a block's values, by stage of their readers.
  struct Names {
    std::vector<ValueId> early, late;
  };

  bool made_late(ValueId v) const { return made_by_[v] != nobody && s_.late[made_by_[v]]; }
  bool is_late(const Carried& c) const { return made_late(c.out); }

  /// Both stages see the block's values, late ones with the places of the previous iteration.
  Names names(Block& made) const {
    made.values = b_.values;
    Names names;
    for (ValueId v = 0; v < b_.values.size(); ++v) {
      names.early.push_back(v);
      Value late = b_.values[v];
      if (late.in_memory) late.place = earlier_(late.place);
      const bool in_place = late.in_memory && late.place == b_.values[v].place;
      names.late.push_back(in_place || made_late(v) ? v : made.add_value(late));
    }
    return names;
  }
  static ValueId in_memory(Block& made, Place place) {
    return made.add_value({Type::Vector, true, place});
  }

  void add_operation(Block& made, const Names& names, std::uint32_t n) const {
    const std::vector<ValueId>& name = s_.late[n] ? names.late : names.early;
    Operation o = b_.code[n];
    for (ValueId* v : {&o.mask, &o.in[0], &o.in[1], &o.in[2], &o.otherwise})
      if (*v != no_value) *v = name[*v];
    if (s_.late[n]) o.place = earlier_(o.place);
    made.code.push_back(o);
  }
  void add_stage(Block& made, const Names& names, bool late) const {
    for (std::uint32_t n = 0; n < b_.code.size(); ++n)
      if (s_.late[n] == late) add_operation(made, names, n);
  }
  static void add_store(Block& made, ValueId value, Place place) {
    Operation o;
    o.op = Op::Store;
    o.in[0] = value;
    o.place = place;
    made.code.push_back(o);
  }

  /// The first stage of the first iteration.
  Block first() const {
    Block made;
    Names n = names(made);
    for (const Carried& c : b_.carried) n.early[c.in] = in_memory(made, c.place);
    add_stage(made, n, false);
    // Carried values that cross are read from the places that their next ones overwrite.
    for (std::size_t k = 0; k < s_.crossing.size(); ++k)
      add_store(made, n.early[s_.crossing[k]], place_(k));
    for (const Carried& c : b_.carried)
      if (!is_late(c)) add_store(made, c.out, c.place);
    return made;
  }

  /// The second stage of an iteration, among the first one of the next.
  Block loop() const {
    Block made;
    Names n = names(made);
    for (const Carried& c : b_.carried) {
      made.carried.push_back(c);
      if (!is_late(c)) continue;
      // The first stage reads what the second one makes just before.
      n.early[c.in] = c.out;
      n.late[c.in] = c.in;
    }
    for (std::size_t k = 0; k < s_.crossing.size(); ++k)
      made.carried.push_back({n.late[s_.crossing[k]], s_.crossing[k], place_(k)});
    for (const std::uint32_t operation : s_.order) add_operation(made, n, operation);
    return made;
  }

  /// The second stage of the last iteration.
  Block last() const {
    Block made;
    Names n = names(made);
    for (const Carried& c : b_.carried) n.late[c.in] = in_memory(made, c.place);
    for (std::size_t k = 0; k < s_.crossing.size(); ++k)
      n.late[s_.crossing[k]] = in_memory(made, place_(k));
    add_stage(made, n, true);
    for (const Carried& c : b_.carried)
      if (is_late(c)) add_store(made, c.out, c.place);
    return made;
  }

  const Block& b_;
  const PipelineSchedule& s_;
  const std::function<Place(Place)>& earlier_;
  const std::function<Place(std::size_t)>& place_;
  const std::vector<std::uint32_t> made_by_;  ///< operation that makes each value
};

}  // namespace

std::vector<PipelineSchedule> pipeline_schedules(const Block& block) {
  std::vector<PipelineSchedule> found;
  for (const Placing placing : {Placing::Late, Placing::Early})
    for (const bool own_masks : {false, true}) {
      Block scheduled = own_masks ? with_own_masks(block) : block;
      std::optional<PipelineSchedule> made = Scheduler(scheduled, placing).run();
      if (!made) continue;
      made->block = std::move(scheduled);
      found.push_back(std::move(*made));
      break;
    }
  return found;
}

PipelinedLoop pipelined(const PipelineSchedule& schedule,
                        const std::function<Place(Place)>& earlier,
                        const std::function<Place(std::size_t)>& place) {
  return Pipeliner(schedule, earlier, place).run();
}

}  // namespace gdr::jit
