// HPL, simulated step by step: for every node the time until which it is busy.
//
// The time of a step on a node comes from the library's LU with a clock (libgdr/dense/factor.hpp).
// The order of the steps and their messages are modelled here: the program is HPL, whose panels are
// distributed, unlike those of DistributedMatrices, and one process cannot send the messages of
// thousands of nodes. Within a step the parts of the nodes have few different sizes, so costs are
// computed once for each size.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>
#include <optional>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/dense/factor.hpp"
#include "libgdr/distributed/grid.hpp"
#include "libgdr/predict/jobs.hpp"
#include "libgdr/predict/network.hpp"
#include "libgdr/predict/remote.hpp"

namespace gdr::predict {
namespace {

using dense::FactorClock;
using dense::StepCost;
using dense::Updates;

/// Numbers of rows (or columns) of the nodes along one side of the grid, and the different ones
/// among them.
struct Sizes {
  std::vector<std::size_t> different, kind;  ///< kind[p]: index into `different`

  /// Indices `at` .. `n` - 1.
  Sizes(const CyclicDistribution& distribution, std::size_t at, std::size_t n)
      : kind(distribution.parts) {
    for (std::size_t p = 0; p < kind.size(); ++p) {
      const std::size_t size = distribution.count_of(n, p) - distribution.count_of(at, p);
      const auto found = std::ranges::find(different, size);
      kind[p] = static_cast<std::size_t>(found - different.begin());
      if (found == different.end()) different.push_back(size);
    }
  }
};

class Simulation {
 public:
  Simulation(const Machine& machine, const HplJob& job)
      : job_(job),
        start_(machine.factor_clock()),
        network_(machine),
        memory_(machine[Key::HostMemoryBandwidth]),
        rows_{job.block, job.rows},
        columns_{job.block, job.columns},
        free_(job.rows * job.columns, 0.0),
        panel_(job.rows, 0.0),
        pivots_(std::min(job.block, job.n)) {}

  Prediction run() {
    factor_panel(0, std::min(job_.block, job_.n), std::vector<double>(job_.rows, 0.0));
    for (std::size_t at = 0; at < job_.n; at += job_.block) step(at);
    const double solving = substitution();
    Prediction result;
    result.seconds = *std::ranges::max_element(free_) + solving;
    result.flops = real(job_.n) * real(job_.n) * (2.0 / 3 * real(job_.n) + 1.5);
    const double nodes = real(job_.rows * job_.columns);
    result.usage = usage_of(use_, nodes);
    result.usage[Resource::Network] = network_seconds_ / nodes;
    result.details = {{"N", real(job_.n)},
                      {"block", real(job_.block)},
                      {"grid rows", real(job_.rows)},
                      {"grid columns", real(job_.columns)},
                      {"seconds of panels", panels_},
                      {"seconds of exchanges", exchanges_ / nodes},
                      {"seconds of triangles", triangles_ / nodes},
                      {"seconds of updates", updates_ / nodes},
                      {"seconds of waiting", waiting_ / nodes}};
    return result;
  }

 private:
  double& free(std::size_t p, std::size_t q) { return free_[p * job_.columns + q]; }

  /// The cost of some steps of one node, a function of Updates.
  template <typename Steps>
  StepCost cost(const Steps& steps) const {
    return clock_after(start_, steps).cost();
  }

  /// The nodes of a column factorise the panel at `at`, each from the time in `ready` on; sets
  /// panel_ to the times of completion. All wait for each other at every pivot.
  void factor_panel(std::size_t at, std::size_t width, const std::vector<double>& ready) {
    const Sizes m(rows_, at, job_.n);
    std::vector<double> costs;
    // Every node has a copy of the panel's upper triangle, besides its own rows.
    for (const std::size_t size : m.different)
      costs.push_back(size == 0 ? 0 : cost([&](Updates& node) {
                                        dense::factor_panel(std::max(size, width), {},
                                                            std::span(pivots_).first(width),
                                                            node.host());
                                      }).host);
    const double begin = *std::ranges::max_element(ready);
    const double work = *std::ranges::max_element(costs);
    for (const std::size_t kind : m.kind) use_.host += costs[kind];
    // HPL joins the search for the pivot and the exchange of its row: one message of two rows.
    const double search =
        real(width) * network_.all_reduce(job_.rows, word_bytes * (2 * real(width) + 4));
    for (double& done : panel_) done = begin + work + search;
    network_seconds_ += search * real(job_.rows);
    panels_ += work + search;
  }

  void step(std::size_t at) {
    const std::size_t width = std::min(job_.block, job_.n - at), end = at + width;
    const std::size_t k = at / job_.block, owner = k % job_.columns, next = (k + 1) % job_.columns;
    const std::size_t next_width = end < job_.n ? std::min(job_.block, job_.n - end) : 0;
    const Sizes m(rows_, end, job_.n), n(columns_, end, job_.n), sent(rows_, at, job_.n);
    receive_panel(at, width, owner, sent);

    std::vector<double> ready(job_.rows, 0.0);
    for (std::size_t q = 0; q < job_.columns; ++q) {
      const bool holds_next = q == next && next_width > 0;
      exchange_and_solve(q, width, n.different[n.kind[q]]);
      if (!holds_next) continue;
      for (std::size_t p = 0; p < job_.rows; ++p) ready[p] = free(p, q);
    }
    const bool ahead = job_.look_ahead && next_width > 0;
    if (ahead) look_ahead(end, width, next, next_width, m, ready);
    for (std::size_t kn = 0; kn < n.different.size(); ++kn)
      for (std::size_t km = 0; km < m.different.size(); ++km)
        for (const bool holds : {false, true})
          update(m, km, n, kn, width, holds, next, ahead ? next_width : 0);
    if (!job_.look_ahead && next_width > 0) {
      for (std::size_t p = 0; p < job_.rows; ++p) ready[p] = free(p, next);
      factor_panel(end, next_width, ready);
      for (std::size_t p = 0; p < job_.rows; ++p) free(p, next) = panel_[p];
    }
  }

  /// The panel is sent along the rows of the grid as a ring, in segments.
  void receive_panel(std::size_t at, std::size_t width, std::size_t owner, const Sizes& sent) {
    for (std::size_t p = 0; p < job_.rows; ++p) {
      const double bytes = word_bytes * real(width) *
                           (real(sent.different[sent.kind[p]]) + real(width) / real(job_.rows));
      for (std::size_t q = 0; q < job_.columns; ++q) {
        const std::size_t hops = (q + job_.columns - owner) % job_.columns;
        const double arrival = panel_[p] + network_.ring(hops, bytes);
        if (hops > 0) network_seconds_ += bytes / network_.bandwidth();
        if (at > 0) waiting_ += std::max(0.0, arrival - free(p, q));
        free(p, q) = std::max(free(p, q), arrival);
      }
    }
  }

  /// The nodes of a column exchange rows, and each solves for its columns of U, synchronously.
  void exchange_and_solve(std::size_t q, std::size_t width, std::size_t columns) {
    double begin = 0;
    for (std::size_t p = 0; p < job_.rows; ++p) begin = std::max(begin, free(p, q));
    for (std::size_t p = 0; p < job_.rows; ++p) waiting_ += begin - free(p, q);
    const std::size_t moved = (width + job_.rows - 1) / job_.rows;
    const double local =
        cost([&](Updates& node) {
          dense::exchange_rows(columns, {}, std::span(pivots_).first(moved), node.host());
        }).host;
    const double messages =
        network_.exchange_rows(job_.rows, word_bytes * real(width) * real(columns));
    if (solved_for_ != std::pair(width, columns)) {
      solved_for_ = {width, columns};
      solve_ = cost([&](Updates& node) {
        dense::solve_triangle(Side::Left, {width, true, true, {}}, columns, {},
                              node.subtract_function(), node.host());
      });
    }
    const double sum = local + messages + solve_.seconds, nodes = real(job_.rows);
    for (std::size_t p = 0; p < job_.rows; ++p) free(p, q) = begin + sum;
    use_ += nodes * solve_;
    use_.host += nodes * local;
    network_seconds_ += nodes * messages;
    exchanges_ += nodes * (local + messages);
    triangles_ += nodes * solve_.seconds;
  }

  /// Updates the columns of the next panel first, and factorises it.
  void look_ahead(std::size_t end, std::size_t width, std::size_t next, std::size_t next_width,
                  const Sizes& m, std::vector<double>& ready) {
    std::vector<StepCost> costs;
    for (const std::size_t size : m.different)
      costs.push_back(
          cost([&](Updates& node) { node.subtract(size, next_width, width, {}, {}, {}); }));
    for (std::size_t p = 0; p < job_.rows; ++p) {
      const StepCost& first = costs[m.kind[p]];
      use_ += first;
      updates_ += first.seconds;
      ready[p] += first.seconds;
      free(p, next) = ready[p];
    }
    factor_panel(end, next_width, ready);
  }

  /// Updates all nodes with parts of these sizes: with `holds` those of the grid column that has
  /// the next panel, of which `done` columns have been updated.
  void update(const Sizes& m, std::size_t km, const Sizes& n, std::size_t kn, std::size_t width,
              bool holds, std::size_t next, std::size_t done) {
    if (holds && n.kind[next] != kn) return;
    const std::size_t columns = n.different[kn] - (holds ? done : 0);
    const FactorClock after = clock_after(
        start_, [&](Updates& node) { node.start(m.different[km], columns, width, {}, {}, {}); });
    const double board = after.boards_until(), host = after.time().total;
    for (std::size_t q = 0; q < job_.columns; ++q) {
      if ((q == next) != holds || n.kind[q] != kn) continue;
      for (std::size_t p = 0; p < job_.rows; ++p) {
        if (m.kind[p] != km) continue;
        double& time = free(p, q);
        // The host factorises first, and then stores the results that the boards have returned.
        time = holds && done > 0 ? std::max(time + board, panel_[p] + host)
                                 : time + std::max(board, host);
        use_ += after.cost();
        updates_ += std::max(board, host);
      }
    }
  }

  /// The back substitution, from column to column of the grid: every node reads its part once, and
  /// only those of one column compute at a time.
  double substitution() {
    const double steps = std::ceil(real(job_.n) / real(job_.block));
    const double reading =
        word_bytes * 0.5 * real(job_.n) * real(job_.n) / real(job_.rows) / memory_;
    use_.host += reading * real(job_.rows);
    return reading +
           steps * (network_.all_reduce(job_.rows, word_bytes * real(job_.block)) +
                    network_.ring(job_.columns > 1 ? 1 : 0, word_bytes * real(job_.block)));
  }

  HplJob job_;
  FactorClock start_;  ///< clock of a node at the beginning of a step
  Network network_;
  double memory_;
  CyclicDistribution rows_, columns_;
  std::vector<double> free_;   ///< end of the work of each node
  std::vector<double> panel_;  ///< time at which each grid row has its part of the next panel
  std::vector<std::int64_t> pivots_;
  std::pair<std::size_t, std::size_t> solved_for_{};
  StepCost solve_;
  // Sums over all nodes.
  StepCost use_;
  double network_seconds_ = 0, panels_ = 0, exchanges_ = 0, triangles_ = 0, updates_ = 0,
         waiting_ = 0;
};

}  // namespace

void choose_grid(std::size_t nodes, HplJob& job) noexcept {
  job.rows = max_square_rows(nodes);
  job.columns = nodes / job.rows;
}

std::vector<NodeGrid> good_grids(std::size_t nodes) {
  const std::size_t whole = max_square_rows(nodes);
  std::vector<NodeGrid> list = {{whole, nodes / whole}};
  if (list.front().second <= 2 * list.front().first) return list;
  for (std::size_t rows = whole + 1; rows * rows <= nodes; ++rows)
    if (const std::size_t columns = nodes / rows; 4 * rows * columns >= 3 * nodes)
      list.emplace_back(rows, columns);
  return list;
}

std::string idle_text(const NodeGrid& grid, std::size_t nodes) {
  const std::size_t used = grid.first * grid.second;
  return used == nodes ? "" : fmt::format(", {} of {} nodes", used, nodes);
}

std::size_t largest_matrix(const Machine& machine, const HplJob& job) noexcept {
  constexpr double share = 0.8;  // netlib.org/benchmark/hpl/faqs.html
  constexpr double panels = 3;
  const double words = share * machine[Key::HostMemory] / word_bytes * real(job.rows * job.columns);
  // A node has n / rows rows of the matrix and of each panel: n n + panels n block columns <=
  // words.
  const double half = 0.5 * panels * real(job.block) * real(job.columns);
  const std::size_t unit = job.block * std::lcm(job.rows, job.columns);
  const auto most = static_cast<std::size_t>(std::sqrt(half * half + words) - half);
  return std::max(unit, most / unit * unit);
}

Prediction predict_hpl(const Machine& machine, const HplJob& job) {
  require_local(machine);
  const auto refuse = [](const std::string& what) { throw Error(ErrorCategory::Usage, what); };
  if (job.n == 0 || job.block == 0) refuse("HPL needs a matrix and a block of at least one row");
  if (job.rows == 0 || job.columns == 0 || job.rows * job.columns > machine.nodes())
    refuse(fmt::format("a grid of {} x {} does not fit the {} nodes of {}", job.rows, job.columns,
                       machine.nodes(), machine.name));
  const double bytes = word_bytes * real(job.n) * real(job.n) / real(job.rows * job.columns);
  if (bytes > machine[Key::HostMemory])
    refuse(fmt::format(
        "a matrix of {} rows takes {:.3g} bytes on every node, and {} has {:.3g}; "
        "the largest recommended matrix has {} rows",
        job.n, bytes, machine.name, machine[Key::HostMemory], largest_matrix(machine, job)));
  // Each step simulates a few products, tile by tile, and all nodes.
  const double steps = std::ceil(real(job.n) / real(job.block));
  const double tiles = real(job.n) / real(job.rows) / real(dense::tile_rows);
  if (steps * (real(job.rows * job.columns) + tiles) > 3e7)
    refuse(fmt::format("blocks of {} need too many steps to simulate; use larger ones", job.block));
  Prediction result = Simulation(machine, job).run();
  result.job =
      fmt::format("HPL, N = {}, blocks of {}, {} x {} nodes{}{}", job.n, job.block, job.rows,
                  job.columns, idle_text({job.rows, job.columns}, machine.nodes()),
                  job.look_ahead ? "" : ", without look-ahead");
  result.machine = machine.name;
  const double nodes = real(job.rows * job.columns);
  result.peak = machine.boards() > 0 ? machine.peak_double() * nodes / real(machine.nodes())
                                     : machine[Key::HostProduct] * nodes;
  return result;
}

Prediction predict_hpl_on_best_grid(const Machine& machine, HplJob job) {
  const bool largest = job.n == 0;
  std::optional<Prediction> best;
  std::exception_ptr refused;
  for (const auto& [rows, columns] : good_grids(machine.nodes())) {
    job.rows = rows;
    job.columns = columns;
    if (largest) job.n = largest_matrix(machine, job);
    try {
      Prediction found = predict_hpl(machine, job);
      if (!best || found.gflops() > best->gflops()) best = std::move(found);
    } catch (const Error& error) {  // a matrix that does not fit the memory of fewer nodes
      if (error.category() != ErrorCategory::Usage) throw;
      if (!refused) refused = std::current_exception();
    }
  }
  if (!best) std::rethrow_exception(refused);
  return *std::move(best);
}

}  // namespace gdr::predict
