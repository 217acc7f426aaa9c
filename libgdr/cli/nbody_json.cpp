// Reports of `gdr nbody` and `gdr force` as JSON.
#include "libgdr/cli/nbody_report.hpp"
#include "libgdr/cli/ranks.hpp"

namespace gdr::cli {
namespace {

Json record_json(const EnergyRecord& record) {
  const Diagnostics& v = record.values;
  return {{"step", record.step},
          {"time", record.time},
          {"kinetic", v.kinetic},
          {"potential", v.potential},
          {"total", v.total()},
          {"relative_error", record.energy_error},
          {"momentum", v.momentum},
          {"angular_momentum", v.angular_momentum},
          {"centre_of_mass", v.centre_of_mass},
          {"half_mass_radius", v.half_mass_radius},
          {"virial_ratio", v.virial_ratio()}};
}

Json cost_json(const ForceCost& cost, std::uint64_t calls) {
  return {{"clocks_per_force_calculation", cost.clocks},
          {"seconds_per_force_calculation", cost.seconds},
          {"seconds", cost.seconds * static_cast<double>(calls)},
          {"gflops", cost.gflops()}};
}

Json comparison_json(const NbodyReport& report) {
  const Comparison& c = *report.comparison;
  return {{"energy_drift", c.drift},
          {"largest_energy_error", c.largest_error},
          {"drift_ratio", c.drift != 0 ? Json(report.drift() / c.drift) : Json()},
          {"rms_position_difference", c.position_difference},
          {"seconds", c.seconds}};
}

}  // namespace

Json statistics_json(const Statistics& s) {
  return {{"engine", s.engine},
          {"isa", s.isa},
          {"threads", s.threads},
          {"fast_runs", s.fast_runs},
          {"fallback_runs", s.fallback_runs},
          {"fallback_reason", s.fallback_reason},
          {"compile_seconds", s.compile_seconds},
          {"interactions", s.interactions},
          {"host_seconds", s.host_seconds},
          {"conversion_seconds", s.conversion_seconds},
          {"transfer_seconds", s.transfer_seconds},
          {"board_seconds", s.board_seconds},
          {"overlap_seconds", s.overlap_seconds},
          {"failed_boards", s.failed_boards},
          {"failed_ranks", s.failed_ranks},
          {"interactions_per_second", interactions_per_second(s)},
          {"flops", s.flops},
          {"compute_clocks", s.compute_clocks},
          {"chip_clocks", s.chip_clocks},
          {"bytes_to_board", s.bytes_to_board},
          {"bytes_from_board", s.bytes_from_board},
          {"predicted_seconds", s.predicted_seconds},
          {"predicted_gflops", s.predicted_gflops()}};
}

Json report_json(const NbodyReport& report) {
  const RunResult& r = report.result;
  Json object = {{"file", report.file},
                 {"particles", report.particles},
                 {"softening", r.end.softening},
                 {"time_step", r.end.time_step},
                 {"G", r.end.gravity},
                 {"start_time", r.end.start_time},
                 {"end_time", r.end.time()},
                 {"first_step", report.plan.start.step},
                 {"last_step", r.end.step},
                 {"restarted", report.plan.restarted},
                 {"stopped", r.stopped},
                 {"energy_drift", report.drift()},
                 {"largest_energy_error", r.largest_error},
                 {"wall_seconds", r.seconds},
                 {"force_calculations", r.force_calls},
                 {"device", report.device},
                 {"clocks_per_interaction", report.clocks_per_interaction}};
  object.update(statistics_json(report.statistics));
  if (!report.ranks.empty()) object["ranks"] = ranks_json(report.ranks);
  if (report.one_chip.clocks > 0) {
    object["one_chip"] = cost_json(report.one_chip, r.force_calls);
    object["one_board"] = cost_json(report.one_board, r.force_calls);
  }
  if (report.comparison) object["double"] = comparison_json(report);
  object["energies"] = Json::array();
  for (const EnergyRecord& record : r.records) object["energies"].push_back(record_json(record));
  object["snapshots"] = r.snapshots;
  return object;
}

}  // namespace gdr::cli
