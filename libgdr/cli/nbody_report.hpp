// What `gdr nbody` and `gdr force` say: lines for people, one JSON object for machines.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "gdr/statistics.hpp"
#include "libgdr/nbody/prediction.hpp"
#include "libgdr/nbody/run.hpp"

namespace gdr::cli {

/// The same integration with forces in double on the host.
struct Comparison {
  double drift = 0;          ///< relative energy error at the end
  double largest_error = 0;  ///< over all steps
  double seconds = 0;
  double position_difference = 0;  ///< root mean square over the particles, at the end
};

/// Everything that a run has to say at its end.
struct NbodyReport {
  std::string file;
  std::size_t particles = 0;
  std::string device;  ///< in words
  RunPlan plan;
  RunResult result;
  Statistics statistics;
  double clocks_per_interaction = 0;
  ForceCost one_chip, one_board;  ///< zeros where they are not known: on many ranks
  std::vector<RankReport> ranks;  ///< of a device that many share
  std::optional<Comparison> comparison;

  double drift() const;
};

/// Interactions a second by wall time inside the emulator.
double interactions_per_second(const Statistics& statistics);

/// The machine's part of a report: what was computed, how fast, and the prediction for the device.
std::string statistics_text(const Statistics& statistics, double clocks_per_interaction);
nlohmann::ordered_json statistics_json(const Statistics& statistics);

/// The table of energies: its heading, and a line.
std::string energy_heading();
std::string energy_line(const EnergyRecord& record);

std::string report_text(const NbodyReport& report);
nlohmann::ordered_json report_json(const NbodyReport& report);

}  // namespace gdr::cli
