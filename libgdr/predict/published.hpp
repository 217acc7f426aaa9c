// The published figures, each with the prediction of the model.
#pragma once

#include <string>
#include <vector>

namespace gdr::predict {

/// A row of the table.
struct PublishedFigure {
  std::string what, machine, unit;
  double published = 0;  ///< 0: nobody published this one; it is a prediction only
  double predicted = 0;
  std::string source;  ///< of the published figure
  std::string tuned;   ///< names of the machine's values that were tuned to fit it; usually none
  double deviation() const noexcept { return published > 0 ? predicted / published - 1 : 0; }
};

/// What a kernel reaches: with no end of particles (the rate of its loop), and for N particles on
/// one another, transfers and host included.
struct KernelFigures {
  std::string name;
  double clocks = 0;                            ///< an interaction
  double flops = 0;                             ///< counted for one
  double asymptotic = 0, small = 0, large = 0;  ///< Gflops; N as below
};
inline constexpr std::size_t small_particles = 1024, large_particles = 131072;

/// A published kernel, by its published clocks, and this library's for the same law.
struct KernelPair {
  KernelFigures published, ours;
};

struct PublishedTable {
  std::vector<PublishedFigure> figures;
  std::vector<KernelPair> kernels;
};

/// Works out all of it. Takes a second at most.
PublishedTable published_table();

}  // namespace gdr::predict
