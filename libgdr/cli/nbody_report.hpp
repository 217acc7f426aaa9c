// Reports of `gdr nbody` and `gdr force`, as text and as JSON.
#pragma once

#include <optional>
#include <string>

#include "gdr/statistics.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/nbody/forces.hpp"
#include "libgdr/nbody/run.hpp"

namespace gdr::cli {

/// The same integration with forces in double on the host.
struct Comparison {
  double drift = 0;          ///< relative energy error at the end
  double largest_error = 0;  ///< largest error of all steps
  double seconds = 0;
  double position_difference = 0;  ///< root mean square over the particles, at the end
};

/// Results of a run.
struct NbodyReport {
  std::string file;
  std::size_t particles = 0;
  std::string device;  ///< description
  RunPlan plan;
  RunResult result;
  Statistics statistics;
  double clocks_per_interaction = 0;
  double seconds = 0;             ///< wall time of the run with the first forces
  TreeUse trees;                  ///< use of trees in a run to an accuracy
  ForceCost one_chip, one_board;  ///< predictions; zeros on many ranks and with trees
  std::vector<RankReport> ranks;  ///< reports of the ranks of devices of kind "mpi"
  std::optional<Comparison> comparison;

  double drift() const;
};

/// Interactions a second by wall time inside the emulator.
double interactions_per_second(const Statistics& statistics);

/// Statistics in a report: amount and speed of computation, and the prediction for the device.
std::string statistics_text(const Statistics& statistics, double clocks_per_interaction);
Json statistics_json(const Statistics& statistics);

/// How forces were computed to an accuracy, in a report about work that took `seconds`.
std::string trees_text(const TreeUse& use, double accuracy, double seconds);
Json trees_json(const TreeUse& use, double accuracy);

/// Heading and line of the table of energies.
std::string energy_heading();
std::string energy_line(const EnergyRecord& record, double time_step);

std::string report_text(const NbodyReport& report);
Json report_json(const NbodyReport& report);

}  // namespace gdr::cli
