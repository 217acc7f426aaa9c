// The published figures, each with the prediction of the model.
#pragma once

#include <string>
#include <vector>

namespace gdr::predict {

/// A row of the table.
struct PublishedFigure {
  std::string what, machine, unit;
  double published = 0, predicted = 0;
  std::string source;   ///< source of the published figure
  std::string tuned;    ///< names of the values that were tuned to fit it; usually none
  double required = 0;  ///< largest deviation that was asked for, as a share; 0: none was
  std::string assumed;  ///< conditions that the publication does not give
  double deviation() const noexcept { return predicted / published - 1; }
};

/// Rates of a kernel: of its loop, and for the forces of N particles on each other, with transfers
/// and host.
struct KernelFigures {
  std::string name;
  double clocks = 0;                            ///< clocks per interaction
  double flops = 0;                             ///< operations per interaction
  double asymptotic = 0, small = 0, large = 0;  ///< Gflops of the loop, and for N as below
};
inline constexpr std::size_t small_particles = 1024, large_particles = 131072;

/// A published kernel with its published clocks, and this library's kernel for the same law.
struct KernelPair {
  KernelFigures published, ours;
};

struct PublishedTable {
  std::vector<PublishedFigure> figures;
  std::vector<KernelPair> kernels;
};

/// Streams over long fat networks, simulated; some seconds.
std::vector<PublishedFigure> published_network_figures();
/// Congestion controls, hosts and disks at the ends of long networks.
std::vector<PublishedFigure> published_congestion_figures();
/// Response functions beside their closed forms: for each law and RTT the largest deviation.
std::vector<PublishedFigure> published_response_figures();

/// Computes the table, in some seconds: boards and clusters, then networks.
PublishedTable published_table();

}  // namespace gdr::predict
