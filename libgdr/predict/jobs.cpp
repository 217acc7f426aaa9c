// Jobs on one node; on many nodes the exchange of data is added.
#include "libgdr/predict/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>

#include "emulator/host/divide_up.hpp"
#include "gdr/error.hpp"
#include "libgdr/dense/factor.hpp"
#include "libgdr/predict/network.hpp"
#include "libgdr/predict/remote.hpp"

namespace gdr::predict {
namespace {

void require_boards(const Machine& machine) {
  if (machine.boards() == 0)
    throw Error(ErrorCategory::Usage, "machine " + machine.name +
                                          " has no boards (node.boards = 0); only HPL and LU run "
                                          "on hosts alone");
}

/// Throws unless matrices of so many numbers fit the memories of all nodes.
void require_memory(const Machine& machine, const std::string& job, double numbers) {
  const double bytes = word_bytes * numbers,
               have = machine[Key::HostMemory] * real(machine.nodes());
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
  double remote = 0;  ///< seconds that remote boards add to those of the boards
  double seconds() const noexcept { return board.seconds + remote + host + network; }
};

/// Adds the transfers to boards in another host.
void add_remote(const Machine& machine, const KernelShape& kernel, const ParticleJob& job,
                ParticleTime& time) {
  const RemotePath path(machine);
  ParticleJob again = job;
  again.resident = true;
  const BoardTime resident = job.resident
                                 ? time.board
                                 : particle_time(kernel, machine.geometry(), machine.board_rates(),
                                                 static_cast<unsigned>(machine.boards()), again);
  const double in = real(time.board.bytes_to_board), later = real(resident.bytes_to_board);
  const double out = real(time.board.bytes_from_board);
  const RemoteRun run{time.board.batches,  std::max(0.0, in - later),
                      std::min(in, later), out,
                      time.board.seconds,  job.overlap};
  time.remote = remote_seconds(path, run) - time.board.seconds;
  time.network = 0;
}

ParticleTime on_grid(const Machine& machine, const KernelShape& kernel, const ParticleJob& job,
                     const ParticleGrid& grid) {
  ParticleTime time{grid, {}, 0, 0, 0};
  ParticleJob part = job;
  part.targets = divide_up(job.targets, grid.rows);
  part.sources = divide_up(job.sources, grid.columns);
  time.board = particle_time(kernel, machine.geometry(), machine.board_rates(),
                             static_cast<unsigned>(machine.boards()), part);
  // Each number is read from the user's array and written to the link's buffer, or vice versa.
  const double memory = machine[Key::HostMemoryBandwidth];
  time.host = 2 * real(time.board.bytes_to_board + time.board.bytes_from_board) / memory;
  const Network network(machine);
  const double results = word_bytes * real(part.targets) * kernel.cost.result_words;
  time.network =
      network.all_gather(grid.columns, word_bytes * real(part.targets) * kernel.cost.target_words) +
      network.all_gather(grid.rows, word_bytes * real(part.sources) * kernel.cost.source_words) +
      network.all_gather(grid.columns, results);
  // Partial results of other nodes are added.
  if (grid.columns > 1) time.host += 3 * results / memory;
  if (machine.remote()) add_remote(machine, kernel, job, time);
  return time;
}

/// Grids of all nodes, and those of good_grids in both directions.
std::vector<ParticleGrid> particle_grids(std::size_t nodes) {
  std::vector<ParticleGrid> list;
  for (std::size_t rows = 1; rows <= nodes; ++rows)
    if (nodes % rows == 0) list.push_back({rows, nodes / rows});
  for (const auto& [rows, columns] : good_grids(nodes)) {
    if (rows * columns == nodes) continue;
    list.push_back({rows, columns});
    if (rows != columns) list.push_back({columns, rows});
  }
  return list;
}

}  // namespace

Prediction predict_particles(const Machine& machine, const KernelShape& kernel,
                             const ParticleJob& job, std::optional<ParticleGrid> grid) {
  require_boards(machine);
  const std::size_t nodes = machine.nodes();
  if (machine.remote() && nodes > 1)
    throw Error(ErrorCategory::Usage,
                fmt::format("machine {} has remote boards (remote.rate > 0) and {} nodes: remote "
                            "boards need one node",
                            machine.name, nodes));
  if (grid && (grid->rows == 0 || grid->columns == 0 || grid->rows * grid->columns > nodes))
    throw Error(ErrorCategory::Usage,
                fmt::format("a grid of {} x {} does not fit the {} nodes of {}", grid->rows,
                            grid->columns, nodes, machine.name));
  std::optional<ParticleTime> best;
  for (const ParticleGrid& tried : grid ? std::vector{*grid} : particle_grids(nodes)) {
    const bool reducible = kernel.cost.reducible || tried.columns == 1;
    if (!reducible && !(grid && !best)) continue;
    if (!reducible)
      throw Error(ErrorCategory::Usage,
                  fmt::format("the results of kernel {} cannot be added up, so its sources cannot "
                              "be divided among nodes; use a grid of {}x1",
                              kernel.name, nodes));
    const ParticleTime time = on_grid(machine, kernel, job, tried);
    if (!best || time.seconds() < best->seconds()) best = time;
  }
  const double clock = machine[Key::ChipClock];
  Prediction result;
  result.job = fmt::format("{}, {} targets, {} sources{}", kernel.name, job.targets, job.sources,
                           grid ? "" : idle_text({best->grid.rows, best->grid.columns}, nodes));
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
  const RemotePath path(machine);
  if (machine.remote())
    result.usage[Resource::Network] =
        real(std::max(best->board.bytes_to_board, best->board.bytes_from_board)) /
        path.throughput();
  result.details = {
      {"clocks per interaction", kernel.clocks_per_interaction()},
      {"chip clocks", static_cast<double>(best->board.clocks.total)},
      {"seconds of the boards", best->board.seconds},
      {"bytes to the boards of a node", static_cast<double>(best->board.bytes_to_board)},
      {"bytes from the boards of a node", static_cast<double>(best->board.bytes_from_board)}};
  if (machine.remote()) {
    result.details.emplace_back("bytes/s to remote boards", path.throughput());
    result.details.emplace_back("seconds of the round trip", path.rtt());
    result.details.emplace_back("pieces of the results", real(best->board.batches));
  }
  if (nodes > 1) {
    result.details.emplace_back("groups of targets", real(best->grid.rows));
    result.details.emplace_back("groups of sources", real(best->grid.columns));
  }
  return result;
}

namespace {

Prediction product_on_grid(const Machine& machine, std::size_t m, std::size_t n, std::size_t k,
                           const NodeGrid& grid) {
  const auto& [grid_rows, grid_columns] = grid;
  const std::size_t rows = divide_up(m, grid_rows), columns = divide_up(n, grid_columns);
  dense::FactorClock clock = machine.factor_clock();
  const std::size_t depth =
      dense::network_mapping(machine.geometry()).depth * machine.count(Key::BoardChips);
  const Network network(machine);
  Prediction result;
  result.job =
      fmt::format("product, {} x {} by {} x {}{}", m, k, k, n, idle_text(grid, machine.nodes()));
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
        network.ring(grid_columns - 1,
                     grid_columns > 1 ? word_bytes * real(rows) * real(deep) : 0) +
        network.ring(grid_rows - 1, grid_rows > 1 ? word_bytes * real(deep) * real(columns) : 0);
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
    result.details = {{"grid rows", real(grid_rows)}, {"grid columns", real(grid_columns)}};
  return result;
}

/// How a matrix is factorised.
struct LuChoice {
  std::size_t block, chips;  ///< columns of a panel; chips of a board that compute
  dense::LuTime time;
};

std::size_t chip_depth(const Machine& machine) {
  return dense::network_mapping(machine.geometry()).depth;
}

LuChoice lu_on_chips(const Machine& machine, std::size_t n, std::size_t block, std::size_t chips,
                     bool overlap) {
  Machine part = machine;
  part.value(Key::BoardChips) = static_cast<double>(chips);
  return {block, chips, dense::predict_lu(part.factor_clock(), n, block, overlap)};
}

/// The fastest of many choices. All that a board has, boards with more chips have too.
LuChoice fastest_lu(const Machine& machine, std::size_t n, bool overlap) {
  constexpr std::size_t widths[] = {64,   128,  256,  384,  512,  768,
                                    1024, 1280, 1536, 2048, 3072, 4096};
  constexpr std::size_t max_panels = 64;  // more are not tried: they take long to simulate
  const std::size_t chips = machine.count(Key::BoardChips), depth = chip_depth(machine);
  std::optional<LuChoice> best;
  for (const std::size_t width : widths) {
    if (best && width > n) break;
    if (width * max_panels < n && width != widths[std::size(widths) - 1]) continue;
    const std::size_t filled = divide_up(width, depth);  // other chips compute with zeros
    for (std::size_t used = chips; used > 0; --used) {
      if (used > filled && !std::has_single_bit(used)) continue;
      LuChoice choice = lu_on_chips(machine, n, width, used, overlap);
      if (!best || choice.time.total < best->time.total) best = std::move(choice);
    }
  }
  return *std::move(best);
}

}  // namespace

Prediction predict_product(const Machine& machine, std::size_t m, std::size_t n, std::size_t k) {
  require_local(machine);
  require_boards(machine);
  std::optional<Prediction> best;
  for (const NodeGrid& grid : good_grids(machine.nodes())) {
    Prediction found = product_on_grid(machine, m, n, k, grid);
    if (!best || found.seconds < best->seconds) best = std::move(found);
  }
  return *std::move(best);
}

Prediction predict_lu(const Machine& machine, std::size_t n, std::size_t block, bool overlap) {
  require_local(machine);
  if (machine.nodes() > 1)
    throw Error(
        ErrorCategory::Usage,
        fmt::format("{} has several nodes, but LU runs on one; use the job hpl for a matrix "
                    "that is distributed over nodes",
                    machine.name));
  Prediction result;
  result.job = fmt::format("LU, N = {}", n);
  require_memory(machine, result.job, real(n) * real(n));
  const std::size_t chips = machine.count(Key::BoardChips);
  const LuChoice choice =
      block == 0 ? fastest_lu(machine, n, overlap) : lu_on_chips(machine, n, block, chips, overlap);
  const dense::LuTime& time = choice.time;
  result.job += fmt::format(", panels of {}{}{}", choice.block,
                            choice.chips < chips && machine.boards() > 0 && block == 0
                                ? fmt::format(", {} of {} chips of a board", choice.chips, chips)
                                : "",
                            overlap ? "" : ", panels and updates alternating");
  result.machine = machine.name;
  result.seconds = time.total;
  result.flops = 2.0 / 3 * real(n) * real(n) * real(n);
  result.peak = machine.boards() > 0 ? machine.peak_double() : machine[Key::HostProduct];
  result.usage = usage_of(time.use);
  result.details = {
      {"panel width", real(choice.block)},      {"seconds of panels", time.panels},
      {"seconds of exchanges", time.exchanges}, {"seconds of triangles", time.solves},
      {"seconds of updates", time.updates},     {"seconds of additions", time.additions}};
  return result;
}

}  // namespace gdr::predict
