// Jobs on a described machine: particles, products of matrices, LU, and HPL on a grid of nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/board/time_model.hpp"
#include "gdr/kernel.hpp"
#include "libgdr/dense/prediction.hpp"
#include "libgdr/device/partition.hpp"
#include "libgdr/predict/machine.hpp"

namespace gdr::predict {

/// A count to calculate with.
inline double real(std::size_t n) noexcept { return static_cast<double>(n); }

enum class Resource : std::size_t { Chip, Ports, LinkWrite, LinkRead, Host, Network, Count };
inline constexpr std::size_t resource_count = static_cast<std::size_t>(Resource::Count);
inline std::string_view resource_name(Resource resource) noexcept {
  constexpr std::array<std::string_view, resource_count> names{
      "chip", "ports", "link to board", "link to host", "host", "network"};
  return names[static_cast<std::size_t>(resource)];
}

/// Busy times of the resources of one node, seconds (for the ports of a chip: of the busier one):
/// those of the busiest node, for a factorisation the mean of all nodes. Resources work
/// concurrently, so the sum may exceed the time of the job.
struct Usage {
  std::array<double, resource_count> seconds{};

  double& operator[](Resource r) noexcept { return seconds[static_cast<std::size_t>(r)]; }
  double operator[](Resource r) const noexcept { return seconds[static_cast<std::size_t>(r)]; }
};
/// The mean of `nodes` nodes with this total cost.
inline Usage usage_of(const dense::StepCost& cost, double nodes = 1) noexcept {
  return {{cost.chip / nodes, cost.ports / nodes, cost.link_write / nodes, cost.link_read / nodes,
           cost.host / nodes}};
}

/// A job on a machine.
struct Prediction {
  std::string job, machine;
  double seconds = 0;
  double flops = 0;  ///< operations by the field's conventions
  double peak = 0;   ///< flops/s of the machine in the job's precision
  Usage usage;
  /// Further figures, name and value, in the order of printing.
  std::vector<std::pair<std::string, double>> details;

  double gflops() const noexcept { return seconds > 0 ? 1e-9 * flops / seconds : 0; }
};

/// The properties of a kernel that its time depends on.
struct KernelShape {
  Kernel kernel;  ///< kernel whose variables are sent and read
  std::string name;
  KernelCost cost;
  ProgramTiming timing;
  double flops = 0;  ///< operations per interaction

  double clocks_per_interaction() const noexcept {
    return static_cast<double>(cost.body_clocks) / (cost.elements * cost.group);
  }
};

/// Throws Error (Program) if the kernel does not fit the geometry.
KernelShape kernel_shape(const Kernel& kernel, const Geometry& geometry);

/// A kernel of which only clocks and operations are known, with the interface of another one. An
/// iteration of its loop computes one source; its sections Start and End take no clocks. Throws
/// Error (Usage) if an iteration would not take whole clocks.
KernelShape with_clocks(const KernelShape& interface, std::string name, double clocks,
                        double flops);

/// A run of a kernel, with the partition of a device. The program is resident on the boards.
struct ParticleJob {
  std::size_t targets = 0, sources = 0;
  Partition partition = Partition::Auto;
  /// Whether the boards hold the sources of a previous run; otherwise all are sent, as their
  /// positions have changed.
  bool resident = false;
  bool overlap = true;  ///< remote boards: results are sent in pieces while others are computed
};

/// Time of a run on the boards of one host.
struct BoardTime {
  ChipPartition partition{};
  ChipClocks clocks;                                       ///< clocks of the busiest chip
  std::uint64_t bytes_to_board = 0, bytes_from_board = 0;  ///< bytes of all boards
  double seconds = 0;                    ///< time of the slowest board, without the host's work
  double link_write = 0, link_read = 0;  ///< busy times of the busiest link, seconds
  std::size_t batches = 0;               ///< batches of targets of the busiest board
};

/// The time model applied to the command lists of a run on `boards` boards of `geometry`: the
/// numbers that Device::statistics returns for it. Throws Error (Usage) for a partition that the
/// kernel does not allow, Error (Device) if a chip's memory does not hold one source.
BoardTime particle_time(const KernelShape& kernel, const Geometry& geometry,
                        const BoardRates& rates, unsigned boards, const ParticleJob& job);

/// Distribution of a particle job over nodes: `rows` groups have different targets, `columns`
/// groups different sources.
struct ParticleGrid {
  std::size_t rows = 1, columns = 1;
};

/// One force calculation. Every node begins with an equal part of the particles: targets are sent
/// to the nodes of its row, sources to those of its column; partial results are reduced along the
/// row and returned to the nodes of the targets. Packing, transfers, computation and unpacking
/// follow each other: only transfers and computation within a board overlap, and those of remote
/// boards (remote.hpp), which only a machine of one node can have. Without a grid the
/// fastest one is used, which may leave nodes idle. Throws the errors of particle_time, and Error
/// (Usage) for a machine without boards or a grid that does not fit it.
Prediction predict_particles(const Machine& machine, const KernelShape& kernel,
                             const ParticleJob& job, std::optional<ParticleGrid> grid = {});

/// C = A B, A being m x k and B k x n, in chip precision (50 bits of the factors, one pass). On
/// many nodes blocks of C are distributed over the fastest grid, which may leave nodes idle, and
/// strips of A and B of the depth of a node's boards are sent along its rows and columns during the
/// product of the previous strip. Throws Error (Usage) for a machine without boards.
Prediction predict_product(const Machine& machine, std::size_t m, std::size_t n, std::size_t k);

/// LU of an n x n matrix on one node by the algorithm of this library's LinearSolver. `block` 0:
/// the panels, and the number of chips of a board that compute, with which the machine is fastest,
/// so that a board with more chips is never slower; LinearSolver itself uses all chips. Throws
/// Error (Usage) for a machine of several nodes.
Prediction predict_lu(const Machine& machine, std::size_t n, std::size_t block, bool overlap);

/// HPL: LU of a matrix in square blocks, distributed cyclically over `rows` x `columns` nodes.
struct HplJob {
  std::size_t n = 0;
  std::size_t block = 2048;  ///< default of lu2 (below), and the depth of a board of four chips
  std::size_t rows = 1, columns = 1;
  bool look_ahead = true;  ///< factorise the next panel while the boards update the rest
};

/// Chooses the most square grid of all nodes with rows <= columns.
void choose_grid(std::size_t nodes, HplJob& job) noexcept;

/// Rows and columns of nodes.
using NodeGrid = std::pair<std::size_t, std::size_t>;
/// Grids with rows <= columns from which the fastest is chosen: the most square one of all nodes;
/// and where that is longer than twice its width, as the 1 x 17 of 17 nodes, also those of fewer
/// nodes, down to three quarters, that are less long.
std::vector<NodeGrid> good_grids(std::size_t nodes);
/// ", 16 of 17 nodes" for a grid that leaves nodes idle, else nothing.
std::string idle_text(const NodeGrid& grid, std::size_t nodes);
/// The largest matrix that fits four fifths of the machine's memory, in whole blocks for every
/// node. HPL's guide recommends this share (netlib.org/benchmark/hpl/faqs.html). The memory also
/// holds three panels, as in the program of the cluster of 2010 (github.com/jmakino/lu2).
std::size_t largest_matrix(const Machine& machine, const HplJob& job) noexcept;

/// Simulates all steps: factorisation of the panel by the nodes of a grid column (with a search for
/// every pivot over the network), its broadcast along the grid rows, exchange of rows and broadcast
/// of the upper blocks along the columns, triangular solves, and the update by the boards, during
/// which the next panel is factorised. Volumes and numbers of messages are those of HPL's published
/// analysis (netlib.org/benchmark/hpl/scalability.html), costs of the nodes those of this library's
/// LU (libgdr/dense). Throws Error (Usage) if the grid does not fit the machine or the matrix its
/// memory.
Prediction predict_hpl(const Machine& machine, const HplJob& job);

/// HPL on the fastest of good_grids; job.rows and job.columns do not matter. With job.n = 0 every
/// grid computes the largest matrix that fits it, and the one with the highest rate is the fastest.
Prediction predict_hpl_on_best_grid(const Machine& machine, HplJob job);

}  // namespace gdr::predict
