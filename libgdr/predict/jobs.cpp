// Jobs on one node; on many nodes the exchange of data is added.
#include "libgdr/predict/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gdr/error.hpp"
#include "libgdr/dense/factor.hpp"
#include "libgdr/predict/network.hpp"

namespace gdr::predict {
namespace {

constexpr double word = 8;

double real(std::size_t n) noexcept { return static_cast<double>(n); }
std::size_t divide_up(std::size_t a, std::size_t b) noexcept { return (a + b - 1) / b; }

void require_boards(const Machine& machine) {
  if (machine.boards() == 0)
    throw Error(ErrorCategory::Usage, "machine " + machine.name +
                                          " has no boards (node.boards = 0); only HPL and LU run "
                                          "on hosts alone");
}

/// Throws unless matrices of so many numbers fit the memories of all nodes.
void require_memory(const Machine& machine, const std::string& job, double numbers) {
  const double bytes = word * numbers, have = machine[Key::HostMemory] * real(machine.nodes());
  if (bytes > have)
    throw Error(ErrorCategory::Usage,
                fmt::format("{}: its matrices take {:.3g} bytes, and {} has {:.3g} (host.memory on "
                            "each of {} nodes)",
                            job, bytes, machine.name, have, machine.nodes()));
}

/// One force calculation on nodes of a grid.
struct ParticleTime {
  ParticleGrid grid;
  BoardTime board;
  double host = 0, network = 0;
  double seconds() const noexcept { return board.seconds + host + network; }
};

ParticleTime on_grid(const Machine& machine, const KernelShape& kernel, const ParticleJob& job,
                     const ParticleGrid& grid) {
  ParticleTime time{grid, {}, 0, 0};
  ParticleJob part = job;
  part.targets = divide_up(job.targets, grid.rows);
  part.sources = divide_up(job.sources, grid.columns);
  time.board = particle_time(kernel, machine.geometry(), machine.board_rates(),
                             static_cast<unsigned>(machine.boards()), part);
  // Each number is read from the user's array and written to the link's buffer, or vice versa.
  const double memory = machine[Key::HostMemoryBandwidth];
  time.host = 2 * real(time.board.bytes_to_board + time.board.bytes_from_board) / memory;
  const Network network(machine);
  const double results = word * real(part.targets) * kernel.cost.result_words;
  time.network =
      network.all_gather(grid.columns, word * real(part.targets) * kernel.cost.target_words) +
      network.all_gather(grid.rows, word * real(part.sources) * kernel.cost.source_words) +
      network.reduce_scatter(grid.columns, results);
  // Partial results of other nodes are added.
  if (grid.columns > 1) time.host += 3 * results / memory;
  return time;
}

}  // namespace

Prediction predict_particles(const Machine& machine, const KernelShape& kernel,
                             const ParticleJob& job, std::optional<ParticleGrid> grid) {
  require_boards(machine);
  const std::size_t nodes = machine.nodes();
  if (grid && (grid->rows == 0 || grid->columns == 0 || grid->rows * grid->columns > nodes))
    throw Error(ErrorCategory::Usage,
                fmt::format("a grid of {} x {} does not fit the {} nodes of {}", grid->rows,
                            grid->columns, nodes, machine.name));
  std::optional<ParticleTime> best;
  for (std::size_t rows = 1; rows <= nodes; ++rows) {
    if (grid ? rows != grid->rows : nodes % rows != 0) continue;
    const ParticleGrid tried{rows, grid ? grid->columns : nodes / rows};
    const bool reducible = kernel.cost.reducible || tried.columns == 1;
    if (!reducible && !(grid && !best)) continue;
    if (!reducible)
      throw Error(ErrorCategory::Usage,
                  fmt::format("the results of kernel {} cannot be added up, so its sources cannot "
                              "be divided among nodes; take a grid of {}x1",
                              kernel.name, nodes));
    const ParticleTime time = on_grid(machine, kernel, job, tried);
    if (!best || time.seconds() < best->seconds()) best = time;
  }
  const double clock = machine[Key::ChipClock];
  Prediction result;
  result.job = fmt::format("{}, {} targets, {} sources", kernel.name, job.targets, job.sources);
  result.machine = machine.name;
  result.seconds = best->seconds();
  result.flops = kernel.flops * real(job.targets) * real(job.sources);
  result.peak = machine.peak_single();
  result.usage[Resource::Chip] = static_cast<double>(best->board.clocks.compute) / clock;
  result.usage[Resource::Ports] =
      static_cast<double>(std::max(best->board.clocks.port_in, best->board.clocks.port_out)) /
      clock;
  result.usage[Resource::LinkWrite] = best->board.link_write;
  result.usage[Resource::LinkRead] = best->board.link_read;
  result.usage[Resource::Host] = best->host;
  result.usage[Resource::Network] = best->network;
  result.details = {
      {"clocks per interaction", kernel.clocks_per_interaction()},
      {"chip clocks", static_cast<double>(best->board.clocks.total)},
      {"seconds of the boards", best->board.seconds},
      {"bytes to the boards of a node", static_cast<double>(best->board.bytes_to_board)},
      {"bytes from them", static_cast<double>(best->board.bytes_from_board)}};
  if (nodes > 1) {
    result.details.emplace_back("groups of targets", real(best->grid.rows));
    result.details.emplace_back("groups of sources", real(best->grid.columns));
  }
  return result;
}

Prediction predict_product(const Machine& machine, std::size_t m, std::size_t n, std::size_t k) {
  require_boards(machine);
  HplJob grid;
  choose_grid(machine.nodes(), grid);
  const std::size_t rows = divide_up(m, grid.rows), columns = divide_up(n, grid.columns);
  dense::FactorClock clock = machine.factor_clock();
  const std::size_t depth =
      dense::network_mapping(machine.geometry()).depth * machine.count(Key::BoardChips);
  const Network network(machine);
  Prediction result;
  result.job = fmt::format("product, {} x {} by {} x {}", m, k, k, n);
  require_memory(machine, result.job, real(m) * real(k) + real(k) * real(n) + real(m) * real(n));
  result.machine = machine.name;
  result.flops = 2 * real(m) * real(n) * real(k);
  result.peak = machine.peak_double();
  // One node computes all of the inner dimension in one call. Many nodes compute the steps of
  // DistributedMatrices::multiply, with messages of the model: no node has the data of the others.
  const std::size_t strip = machine.nodes() == 1 ? std::max<std::size_t>(1, k) : depth;
  double product_before = 0;
  for (std::size_t done = 0; done < k; done += strip) {
    const std::size_t deep = std::min(strip, k - done);
    const double messages =
        network.ring(grid.columns - 1, grid.columns > 1 ? word * real(rows) * real(deep) : 0) +
        network.ring(grid.rows - 1, grid.rows > 1 ? word * real(deep) * real(columns) : 0);
    const double begin = clock.time().total;
    clock.start_product(rows, columns, deep, done > 0 ? 1 : 0);
    clock.wait();
    const double seconds = clock.time().total - begin;
    // The messages of every strip but the first overlap with the product of the previous one.
    result.seconds += done == 0 ? messages : std::max(0.0, messages - product_before);
    result.seconds += seconds;
    product_before = seconds;
    result.usage[Resource::Network] += messages;
  }
  const double messages = result.usage[Resource::Network];
  result.usage = usage_of(clock.cost());
  result.usage[Resource::Network] = messages;
  if (machine.nodes() > 1)
    result.details = {{"grid rows", real(grid.rows)}, {"grid columns", real(grid.columns)}};
  return result;
}

Prediction predict_lu(const Machine& machine, std::size_t n, std::size_t block, bool overlap) {
  if (machine.nodes() > 1)
    throw Error(ErrorCategory::Usage, machine.name +
                                          " has many nodes, and LU is of one; the job hpl is the "
                                          "factorisation of a matrix that is distributed over all");
  const std::size_t depth =
      dense::network_mapping(machine.geometry()).depth * machine.count(Key::BoardChips);
  if (block == 0) block = dense::panel_columns(n, depth);
  Prediction result;
  result.job = fmt::format("LU, N = {}, panels of {}{}", n, block,
                           overlap ? "" : ", panels and updates alternating");
  require_memory(machine, result.job, real(n) * real(n));
  const dense::LuTime time = dense::predict_lu(machine.factor_clock(), n, block, overlap);
  result.machine = machine.name;
  result.seconds = time.total;
  result.flops = 2.0 / 3 * real(n) * real(n) * real(n);
  result.peak = machine.boards() > 0 ? machine.peak_double() : machine[Key::HostProduct];
  result.usage = usage_of(time.use);
  result.details = {{"panel width", real(block)},
                    {"seconds of panels", time.panels},
                    {"seconds of exchanges", time.exchanges},
                    {"seconds of triangles", time.solves},
                    {"seconds of updates", time.updates},
                    {"seconds of additions", time.additions}};
  return result;
}

}  // namespace gdr::predict
