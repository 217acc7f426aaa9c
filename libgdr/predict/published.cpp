// The table of published figures. Sources: for the particle kernels and the rates of one board the
// original authors (as commonly quoted; clocks, counts and rates are consistent), for HPL and power
// the press releases of July 2010 and the Little Green500 list of June 2010.
#include "libgdr/predict/published.hpp"

#include <fmt/format.h>

#include "gdr/kernel.hpp"
#include "libgdr/predict/jobs.hpp"

namespace gdr::predict {
namespace {

struct KnownKernel {
  std::string_view what, ours;
  double clocks, flops, gflops;  ///< published
};
constexpr KnownKernel known_kernels[] = {
    {"gravity", "gravity", 56, 38, 174},
    {"gravity and its derivative", "gravity_jerk", 95, 60, 162},
    {"van der Waals", "lennard_jones", 102, 40, 100}};

/// The rate of the loop, for unlimited numbers of targets and sources.
double asymptotic_gflops(const Machine& machine, const KernelShape& kernel) {
  const Geometry g = machine.geometry();
  const std::size_t slots = board_slots(kernel.cost, g, ChipPartition::TargetsOverBlocks);
  const auto clocks = [&](std::size_t sources) {
    return static_cast<double>(particle_time(kernel, g, machine.board_rates(), 1,
                                             {slots, sources, Partition::TargetsOverBlocks})
                                   .clocks.total);
  };
  // Clocks of each further source of a batch.
  constexpr std::size_t many = std::size_t{1} << 20;
  const double each = (clocks(2 * many) - clocks(many)) / static_cast<double>(many);
  return 1e-9 * kernel.flops * static_cast<double>(slots) * g.clock_hz / each;
}

KernelFigures figures_of(const Machine& machine, const KernelShape& kernel) {
  const auto rate = [&](std::size_t n) {
    return predict_particles(machine, kernel, {n, n}).gflops();
  };
  return {kernel.name,           kernel.clocks_per_interaction(),
          kernel.flops,          asymptotic_gflops(machine, kernel),
          rate(small_particles), rate(large_particles)};
}

/// Names of the tuned values of a machine that its power depends on.
std::string tuned_powers(const Machine& machine) {
  std::string text;
  for (const Key key : {Key::ChipPower, Key::BoardPower, Key::HostPower}) {
    if (machine.values[static_cast<std::size_t>(key)].origin != Origin::Tuned) continue;
    text +=
        (text.empty() ? "" : ", ") + std::string(key_table()[static_cast<std::size_t>(key)].name);
  }
  return text;
}

}  // namespace

PublishedTable published_table() {
  PublishedTable table;
  const Machine chip = preset("chip"), board = preset("board4"), cluster = preset("cluster64");
  for (const KnownKernel& k : known_kernels) {
    const KernelShape ours = kernel_shape(Kernel::builtin(k.ours), chip.geometry());
    const KernelShape theirs = with_clocks(ours, std::string(k.what), k.clocks, k.flops);
    table.kernels.push_back({figures_of(chip, theirs), figures_of(chip, ours)});
    table.figures.push_back({fmt::format("{}, {:g} clocks, asymptotic", k.what, k.clocks),
                             chip.name, "Gflops", k.gflops,
                             table.kernels.back().published.asymptotic,
                             "the authors' papers, as commonly quoted", "", 0, ""});
  }
  const auto add = [&](std::string what, const Machine& machine, std::string unit, double published,
                       double predicted, std::string source, std::string tuned = {}) {
    table.figures.push_back({std::move(what), machine.name, std::move(unit), published, predicted,
                             std::move(source), std::move(tuned), 0, ""});
  };
  add("product, 51200 x 2048 by 2048 x 51200", board, "Gflops", 730,
      predict_product(board, 51200, 51200, 2048).gflops(),
      "the authors' papers, as commonly quoted");
  add("LU, N = 51200", board, "Gflops", 480, predict_lu(board, 51200, 2048, true).gflops(),
      "the authors' papers, as commonly quoted");

  HplJob job;
  choose_grid(cluster.nodes(), job);
  job.n = largest_matrix(cluster, job);
  const double hpl = predict_hpl(cluster, job).gflops();
  add(fmt::format("HPL, 64 nodes, N = {}", job.n), cluster, "Tflops", 23.4, 1e-3 * hpl,
      "press releases, July 2010");
  Machine alone = cluster;
  alone.set(Key::NodeBoards, 0, Origin::Published, "the same nodes without their boards");
  HplJob on_hosts = job;
  on_hosts.block = 256;  // not limited by the depth of a board
  on_hosts.n = largest_matrix(alone, on_hosts);
  add(fmt::format("HPL on the hosts alone, N = {}", on_hosts.n), alone, "Tflops", 2.2,
      1e-3 * predict_hpl(alone, on_hosts).gflops(), "Mynavi and PC Watch, July 2010");
  add("HPL, 64 nodes, per watt", cluster, "Mflops/W", 815.43, 1e3 * hpl / cluster.power(),
      "Little Green500 list, June 2010", tuned_powers(cluster));
  for (const auto part :
       {published_network_figures, published_congestion_figures, published_response_figures})
    for (PublishedFigure& f : part()) table.figures.push_back(std::move(f));
  return table;
}

}  // namespace gdr::predict
