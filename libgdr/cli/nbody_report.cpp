// Reports of `gdr nbody` and `gdr force`, as text and as JSON.
#include "libgdr/cli/nbody_report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/engine/api/capabilities.hpp"
#include "libgdr/cli/ranks.hpp"

namespace gdr::cli {
namespace {

constexpr ReportRow summary_row{19};

/// "12.3 million".
std::string rounded(double number) {
  if (number >= 1e9) return fmt::format("{:.3g} thousand million", number * 1e-9);
  if (number >= 1e6) return fmt::format("{:.4g} million", number * 1e-6);
  return fmt::format("{:.0f}", number);
}

std::string prediction(const ForceCost& cost, std::uint64_t calls) {
  return fmt::format("{:.4g} s for {} force calculations of {} clocks, {:.4g} Gflops",
                     cost.seconds * static_cast<double>(calls), calls, cost.clocks, cost.gflops());
}

std::string comparison_text(const NbodyReport& report) {
  const Comparison& c = *report.comparison;
  return summary_row(fmt::format("{} in double", integrator_name(report.plan.start.integrator)),
                     "energy drift {:+.6e}, largest {:.6e} ({:.3g} s on the host)", c.drift,
                     c.largest_error, c.seconds) +
         summary_row("device / double",
                     "energy drift {:.6f}, largest {:.6f}; positions differ by {:.2e} (rms)",
                     c.drift != 0 ? report.drift() / c.drift : 1.0,
                     c.largest_error != 0 ? report.result.largest_error / c.largest_error : 1.0,
                     c.position_difference);
}

std::string block_steps_text(const HermiteStatistics& s) {
  std::string text =
      summary_row("block steps", "{} with {} particle steps: {:.4g} particles in a block",
                  s.block_steps, s.particle_steps, s.mean_block()) +
      summary_row("step sizes", "{:.4g} to {:.4g}", s.smallest_step, s.largest_step);
  if (s.limited_steps > 0)
    text += summary_row("limited steps", "{} set to --dt-min", s.limited_steps);
  if (s.tree_steps > 0)
    text += summary_row(
        "tree", "{:.3g} % of the particle steps; largest errors (rms) {:.2g}, of jerks {:.2g}",
        100.0 * static_cast<double>(s.tree_steps) /
            static_cast<double>(std::max<std::uint64_t>(1, s.particle_steps)),
        s.tree_error, s.tree_jerk_error);
  return text;
}

Json block_steps_json(const HermiteStatistics& s) {
  return {{"block_steps", s.block_steps},        {"particle_steps", s.particle_steps},
          {"mean_block", s.mean_block()},        {"smallest_step", s.smallest_step},
          {"largest_step", s.largest_step},      {"limited_steps", s.limited_steps},
          {"tree_steps", s.tree_steps},          {"tree_error", s.tree_error},
          {"tree_jerk_error", s.tree_jerk_error}};
}

Json record_json(const EnergyRecord& record) {
  const ConservedQuantities& v = record.values;
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

double NbodyReport::drift() const {
  return result.records.empty() ? 0.0 : result.records.back().energy_error;
}

double interactions_per_second(const Statistics& statistics) {
  return statistics.host_seconds > 0
             ? static_cast<double>(statistics.interactions) / statistics.host_seconds
             : 0.0;
}

/// Block runs in doubles or compiled code, and on the slower fallback.
std::string block_runs(const Statistics& s) {
  const Capabilities engine = capabilities_of(s.engine);
  if (s.fast_runs + s.fallback_runs == 0)
    return engine.one_pe_at_a_time ? "all by the reference, one PE at a time"
           : s.isa == "portable"   ? "all on integers: the portable path"
                                   : "all on integers: no section computes with floating point";
  std::string text = !engine.exact() ? fmt::format("{} compiled, {} on the exact engine",
                                                   s.fast_runs, s.fallback_runs)
                                     : fmt::format("{} in doubles, proved exact; {} on integers",
                                                   s.fast_runs, s.fallback_runs);
  if (s.gpu_runs != 0) text += fmt::format("; {} on the GPU", s.gpu_runs);
  if (!s.fallback_reason.empty()) text += " (" + s.fallback_reason + ")";
  return text;
}

std::string statistics_text(const Statistics& s, double clocks_per_interaction) {
  return summary_row("host", "{} engine, {}, {}", s.engine, s.isa, counted(s.threads, "thread")) +
         summary_row("interactions", "{} in {:.3g} s: {} a second",
                     rounded(static_cast<double>(s.interactions)), s.host_seconds,
                     rounded(interactions_per_second(s))) +
         summary_row("block runs", "{}", block_runs(s)) +
         summary_row("clocks", "{} a chip, {:.4g} an interaction and PE", s.chip_clocks,
                     clocks_per_interaction) +
         summary_row("this device", "{:.4g} s predicted, {:.4g} Gflops", s.predicted_seconds,
                     s.predicted_gflops());
}

std::string trees_text(const TreeUse& use, double accuracy, double seconds) {
  if (use.direct_calls == use.calls)
    return summary_row("tree", "not used: direct sums are faster, or needed for accuracy {:g}",
                       accuracy);
  const auto interval = [](double least, double most) {
    return least == most ? fmt::format("{:.3g}", least)
                         : fmt::format("{:.3g} to {:.3g}", least, most);
  };
  const auto share = [&](double part) {
    return fmt::format("{:.0f} %", seconds > 0 ? 100 * part / seconds : 0.0);
  };
  const bool proxies = use.direct_calls + use.expansion_calls < use.calls;
  const std::string kinds = use.expansion_calls == 0 ? "multipoles"
                            : proxies                ? "multipoles and expansions"
                                                     : "expansions";
  const std::string what =
      use.max_degree == 1
          ? "monopoles"
          : fmt::format("{} of degree {}", kinds, interval(use.min_degree, use.max_degree));
  return summary_row(
             "tree", "{}, theta {}, up to {:.0f} sources of a particle; {} direct sums", what,
             interval(use.min_theta, use.max_theta), use.max_sources,
             use.direct_calls > 0 ? counted(use.direct_calls, "calculation") + " by" : "no") +
         summary_row("errors of forces",
                     "{:.2g} (rms, the largest; asked for: {:g}), of one particle {:.2g}; measured "
                     "on {} particles of each calculation",
                     use.error, accuracy, use.largest_error, use.samples) +
         summary_row(
             "time of forces",
             "{} of {:.3g} s: sums {}, expansions {}, lists {}, tree {}, choice and errors {}",
             share(use.seconds), seconds, share(use.force_seconds), share(use.expansion_seconds),
             share(use.list_seconds), share(use.build_seconds), share(use.choice_seconds));
}

Json trees_json(const TreeUse& use, double accuracy) {
  return {{"accuracy", accuracy},
          {"force_calculations", use.calls},
          {"direct_sums", use.direct_calls},
          {"error", use.error},
          {"largest_error", use.largest_error},
          {"samples", use.samples},
          {"degree", {use.min_degree, use.max_degree}},
          {"theta", {use.min_theta, use.max_theta}},
          {"sources_per_target", use.max_sources},
          {"seconds", use.seconds},
          {"build_seconds", use.build_seconds},
          {"choice_seconds", use.choice_seconds},
          {"expansions", use.expansion_calls},
          {"expansion_seconds", use.expansion_seconds},
          {"list_seconds", use.list_seconds},
          {"force_seconds", use.force_seconds}};
}

std::string energy_heading() {
  return fmt::format("{:>10} {:>12} {:>13} {:>13} {:>13} {:>10} {:>12} {:>9} {:>8}\n", "step",
                     "time", "kinetic", "potential", "total", "dE/E", "ang. mom.", "cm", "r_half");
}

std::string energy_line(const EnergyRecord& record, double time_step) {
  const ConservedQuantities& v = record.values;
  return fmt::format(
      "{:>10} {:>12} {:>13.9f} {:>13.9f} {:>13.9f} {:>+10.2e} {:>12.6e} {:>9.2e} "
      "{:>8.5f}\n",
      record.step, time_text(record.time, time_step), v.kinetic, v.potential, v.total(),
      record.energy_error, norm(v.angular_momentum), norm(v.centre_of_mass), v.half_mass_radius);
}

std::string report_text(const NbodyReport& report) {
  const RunResult& r = report.result;
  const std::int64_t steps = r.end.step - report.plan.start.step;
  std::string text = "\n";
  if (r.stopped)
    text +=
        summary_row("stopped", "at t = {} by a signal", time_text(r.end.time(), r.end.time_step));
  text += summary_row("steps", "{} in {:.3g} s of wall time", steps, r.seconds);
  if (r.block_steps) text += block_steps_text(*r.block_steps);
  text += summary_row("energy drift", "{:+.6e}, largest {:.6e}, over {:.6g} time units",
                      report.drift(), r.largest_error, r.end.time() - report.plan.start.start_time);
  if (report.comparison) text += comparison_text(report);
  if (!r.records.empty()) {
    const ConservedQuantities& a = r.records.front().values;
    const ConservedQuantities& b = r.records.back().values;
    text += summary_row("conserved", "momentum to {:.1e}, angular momentum to {:.1e}",
                        norm(difference(b.momentum, a.momentum)),
                        norm(difference(b.angular_momentum, a.angular_momentum)));
    text += summary_row("size", "half-mass radius {:.5g} -> {:.5g}, virial ratio {:.4f} -> {:.4f}",
                        a.half_mass_radius, b.half_mass_radius, a.virial_ratio(), b.virial_ratio());
  }
  if (r.end.accuracy > 0 && !r.block_steps) {
    text += trees_text(report.trees, r.end.accuracy, report.seconds);
    if (report.trees.direct_calls < report.trees.calls)
      text += summary_row("energies", "with the potentials of the tree");
  }
  if (!is_quiet()) {
    text += statistics_text(report.statistics, report.clocks_per_interaction);
    text += ranks_text(report.ranks);
  }
  if (report.one_chip.clocks > 0 && !is_quiet()) {
    text += summary_row("one chip", "{}", prediction(report.one_chip, r.force_calls));
    text += summary_row("one 4-chip board", "{}", prediction(report.one_board, r.force_calls));
  }
  if (!r.snapshots.empty())
    text += summary_row("snapshots", "{}, the last is {}", r.snapshots.size(), r.snapshots.back());
  return text;
}

Json statistics_json(const Statistics& s) {
  return {{"engine", s.engine},
          {"isa", s.isa},
          {"threads", s.threads},
          {"fast_runs", s.fast_runs},
          {"fallback_runs", s.fallback_runs},
          {"gpu_runs", s.gpu_runs},
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
                 {"integrator", integrator_name(r.end.integrator)},
                 {"kernel", r.kernel},
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
  if (r.end.integrator == IntegratorKind::Hermite4) {
    object["eta"] = r.end.eta;
    object["eta_start"] = r.end.eta_start;
    object["step_fraction"] = r.end.fraction;
  }
  if (r.end.accuracy > 0) object["accuracy"] = r.end.accuracy;
  if (r.end.accuracy > 0 && !r.block_steps)
    object["tree"] = trees_json(report.trees, r.end.accuracy);
  if (r.block_steps) object["blocks"] = block_steps_json(*r.block_steps);
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
