#include "libgdr/cli/profile.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "emulator/board/constants.hpp"
#include "emulator/engine/api/capabilities.hpp"
#include "libgdr/cli/command.hpp"

namespace gdr::cli {
namespace {

/// Seconds in a unit that suits them.
std::string duration_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s ", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", 1e3 * seconds);
  return fmt::format("{:.3f} us", 1e6 * seconds);
}

/// Joules in a unit that suits them.
std::string energy_text(double joules) {
  constexpr std::pair<double, std::string_view> units[] = {
      {1, "J "}, {1e-3, "mJ"}, {1e-6, "uJ"}, {1e-9, "nJ"}, {1e-12, "pJ"}};
  for (const auto& [size, name] : units)
    if (joules >= size) return fmt::format("{:.3f} {}", joules / size, name);
  return fmt::format("{:.3f} pJ", 1e12 * joules);
}

double part_of(const ProfileTime& time, std::string_view name) {
  const auto found = std::ranges::find(time.parts, name, &ProfilePart::name);
  return found == time.parts.end() ? 0 : share(found->seconds, time.seconds);
}

constexpr std::string_view conversions[] = {"convert sources", "convert targets",
                                            "convert results"};

ProfileTime measured_time(const ProfiledJob& job) {
  std::map<std::string_view, double> sums;
  for (const TimelineEvent& event : job.events)
    if (event.clock == TimelineClock::Measured && event.part == "host")
      sums[event.what] += event.end - event.begin;
  const auto runs = static_cast<double>(job.runs);
  ProfileTime time{job.seconds / runs, {}};
  double known = 0;
  const auto add = [&](std::string_view name, double seconds) {
    // Boards of other processes work at the same time as the host.
    seconds = std::min(seconds, time.seconds - known);
    time.parts.push_back({std::string(name), seconds});
    known += seconds;
  };
  for (const std::string_view name : conversions) add(name, sums[name] / runs);
  add("transfer memory", job.statistics.transfer_seconds / runs);
  add("board: " + job.statistics.engine, job.statistics.board_seconds / runs);
  time.parts.push_back({"calls and queue", time.seconds - known});
  return time;
}

/// Modelled seconds of a command on a part of the busiest board, in all runs.
double modelled_seconds(const ProfiledJob& job, std::string_view part, std::string_view command) {
  std::map<std::pair<unsigned, std::string_view>, double> sums;
  for (const TimelineEvent& event : job.events)
    if (event.clock == TimelineClock::Modelled && event.part.starts_with(part) &&
        event.what == command)
      sums[{event.board, event.part}] += event.end - event.begin;
  double most = 0;
  for (const auto& [key, seconds] : sums) most = std::max(most, seconds);
  return most;
}

ProfileTime predicted_time(const ProfiledJob& job) {
  const auto runs = static_cast<double>(job.runs);
  std::map<std::pair<unsigned, std::string_view>, double> busy;
  for (const TimelineEvent& event : job.events)
    if (event.clock == TimelineClock::Modelled)
      busy[{event.board, event.part}] += (event.end - event.begin) / runs;
  double to_board = 0, chips = 0, from_board = 0;
  for (const auto& [key, seconds] : busy) {
    double& most = key.second == "link write"  ? to_board
                   : key.second == "link read" ? from_board
                                               : chips;
    most = std::max(most, seconds);
  }
  return {job.statistics.predicted_seconds / runs,
          {{"link to board", to_board}, {"chips", chips}, {"link to host", from_board}}};
}

/// Clocks in which chips work, in all runs: idle ones are not counted.
double chip_clocks(const ProfiledJob& job) {
  double seconds = 0;
  for (const TimelineEvent& event : job.events)
    if (event.clock == TimelineClock::Modelled && event.part.starts_with("chip"))
      seconds += event.end - event.begin;
  return seconds * job.clock_hz;
}

struct Advice {
  double weight;  ///< fraction of a time that it concerns
  std::string text;
};

std::vector<std::string> advice_for(const ProfiledJob& job, const Profile& p) {
  constexpr double notable = 0.2;
  std::vector<Advice> list;
  const auto add = [&](double weight, std::string text) {
    if (weight >= notable) list.push_back({weight, std::move(text)});
  };
  // Sources are written to the memories, targets to the PEs.
  const double to_board =
      share(modelled_seconds(job, "link write", "write memory"), job.statistics.predicted_seconds);
  const double sources = part_of(p.measured, "convert sources");
  if (!job.resident)
    add(std::max(to_board, sources),
        fmt::format("The sources are given for each run: converting them takes {:.0f} % of this "
                    "host's time, and sending them {:.0f} % of the real board's. Keep sources that "
                    "do not change in the job, and change others with update_sources (--resident "
                    "shows the gain).",
                    100 * sources, 100 * to_board));
  const double filled = share(static_cast<double>(job.targets),
                              static_cast<double>(std::max<std::size_t>(1, job.target_slots)));
  if (filled < 0.5)
    add(0.9 * (1 - filled) * part_of(p.predicted, "chips"),
        fmt::format(
            "{} targets are {:.1f} % of those that a board holds at once ({}). More targets "
            "in a call cost the real board little; several sets of targets and sources "
            "fit in one call of a SetJob.",
            job.targets, 100 * filled, job.target_slots));
  add(p.port_waiting,
      fmt::format("In the loop over sources the PEs wait {:.0f} % of the time for words from the "
                  "ports. In a kernel of your own, fewer variables of a source help, and `short` "
                  "for those that need 24 bits only.",
                  100 * p.port_waiting));
  if (p.emulated_runs > 0.01)
    list.push_back({std::max(notable, p.emulated_runs),
                    fmt::format("{:.1f} % of the block sections ran in emulated arithmetic, which "
                                "is slow: {}.",
                                100 * p.emulated_runs, job.statistics.fallback_reason)});
  else if (!job.statistics.fallback_reason.empty())
    list.push_back({notable, fmt::format("The engine {} reports: {}.", job.statistics.engine,
                                         job.statistics.fallback_reason)});
  const double board = part_of(p.measured, "board: " + job.statistics.engine);
  const Capabilities engine = capabilities_of(job.statistics.engine);
  if (engine.one_pe_at_a_time)
    add(board, "The engine reference is for checks; the engine vector gives the same bits faster.");
  else if (engine.exact() && !engine.uses_gpu)
    add(board,
        "The engine vector gives the bits of the machine. If double precision will do, "
        "--engine native (GDR_ENGINE=native) is many times as fast.");
  else if (engine.numbers == EngineNumbers::Doubles && !engine.uses_gpu)
    add(0.5 * board,
        "If single precision will do, try --engine native-float, or native-mixed with accurate "
        "distances: they compute twice as many targets in a vector.");
  add(part_of(p.measured, "calls and queue"),
      "Calls are short for this host. Join several in one call: more targets, or the sets of a "
      "SetJob.");
  std::ranges::stable_sort(list, std::greater{}, &Advice::weight);
  std::vector<std::string> texts;
  for (Advice& advice : list) texts.push_back(std::move(advice.text));
  return texts;
}

std::string table_of(std::string_view title, const ProfileTime& time, std::string_view last) {
  std::string text = fmt::format("{:<34}{:>14}{:>9}\n", title, "one run", "share");
  for (const ProfilePart& part : time.parts)
    text += fmt::format("  {:<32}{:>14}{:>7.1f} %\n", part.name, duration_text(part.seconds),
                        100 * share(part.seconds, time.seconds));
  return text + fmt::format("  {:<32}{:>14}\n", last, duration_text(time.seconds));
}

Json json_of(const ProfileTime& time) {
  Json json{{"seconds", time.seconds}};
  for (const ProfilePart& part : time.parts) json["parts"][part.name] = part.seconds;
  return json;
}

std::string html_escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else
      safe += c;
  }
  return safe;
}

}  // namespace

Profile profile_of(const ProfiledJob& job) {
  const Statistics& s = job.statistics;
  Profile p;
  p.measured = measured_time(job);
  p.predicted = predicted_time(job);
  p.gflops = s.predicted_gflops();
  // The clocks of the loops, and those in which they compute.
  const double loops = modelled_seconds(job, "chip", "run");
  const double computing = static_cast<double>(s.compute_clocks) / job.clock_hz;
  p.port_waiting = loops > 0 ? std::max(0.0, 1 - computing / loops) : 0;
  const double of_clock = job.pes * constants::pe_clock_energy.value;
  p.joules = chip_clocks(job) * of_clock / static_cast<double>(job.runs);
  p.joules_waiting = p.joules * p.port_waiting;
  p.joules_each =
      share(p.joules, static_cast<double>(job.targets) * static_cast<double>(job.sources));
  p.emulated_runs = share(static_cast<double>(s.fallback_runs),
                          static_cast<double>(s.fast_runs + s.fallback_runs));
  p.advice = advice_for(job, p);
  return p;
}

std::string profile_text(const ProfiledJob& job, const Profile& p) {
  std::string text = fmt::format("{}: {} targets, {} sources, mean of {}, sources {}\n{}\n\n",
                                 job.kernel, job.targets, job.sources, counted(job.runs, "run"),
                                 job.resident ? "given once" : "given for each run", job.device);
  text += table_of("Measured on this host", p.measured, "all");
  text += "\n" + table_of("Predicted for the real board", p.predicted, "all (parts overlap)");
  text += fmt::format("  {:<32}{:>11.1f} Gflops\n", "rate", p.gflops);
  text += fmt::format("  {:<32}{:>11.1f} %\n", "PEs wait for ports", 100 * p.port_waiting);
  text += fmt::format("\n{:<34}{:>14}\n", "Estimated energy of the chips", "one run");
  text += fmt::format("  {:<32}{:>14}\n", "all", energy_text(p.joules));
  text +=
      fmt::format("  {:<32}{:>14}\n", "while PEs wait for ports", energy_text(p.joules_waiting));
  text += fmt::format("  {:<32}{:>14}\n", "an interaction", energy_text(p.joules_each));
  text += fmt::format("  {:<32}{:>11.0f} pJ (65 W of a chip at 500 MHz)\n", "a clock of a PE",
                      1e12 * constants::pe_clock_energy.value);
  text += "\nWhat to change\n";
  if (p.advice.empty()) text += "  nothing: the chips and this host spend their time computing\n";
  for (const std::string& advice : p.advice) {
    constexpr std::size_t width = 88;
    text += wrap(fmt::format("- {}", advice), 2, width) + "\n";
  }
  return text;
}

Json profile_json(const ProfiledJob& job, const Profile& p) {
  return {{"kernel", job.kernel},
          {"device", job.device},
          {"targets", job.targets},
          {"sources", job.sources},
          {"runs", job.runs},
          {"resident", job.resident},
          {"measured", json_of(p.measured)},
          {"predicted", json_of(p.predicted)},
          {"gflops", p.gflops},
          {"energy",
           {{"joules", p.joules},
            {"waiting", p.joules_waiting},
            {"interaction", p.joules_each},
            {"pe_clock", constants::pe_clock_energy.value}}},
          {"port_waiting", p.port_waiting},
          {"emulated_runs", p.emulated_runs},
          {"advice", p.advice}};
}

std::string profile_svg(const ProfiledJob& job, const Profile& p) {
  // Okabe and Ito's colours, which colour-blind people tell apart.
  constexpr std::array colours{"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#999999"};
  constexpr int left = 20, right = 700, bar = 22, line = 20;
  int y = 52;
  std::string body;
  const auto text = [&](int x, int at, std::string_view words, std::string_view style = "") {
    body += fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", x, at, style, html_escaped(words));
  };
  const auto rectangle = [&](double x, int at, double width, int height, std::size_t colour) {
    body +=
        fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n", x,
                    at, width, height, colours[colour % colours.size()]);
  };
  const auto label = [&](std::size_t k, const ProfilePart& part, double whole) {
    rectangle(left, y - 10, 10, 10, k);
    text(left + 18, y, part.name);
    text(left + 230, y, duration_text(part.seconds));
    text(left + 340, y, fmt::format("{:.1f} %", 100 * share(part.seconds, whole)));
    y += line;
  };
  constexpr std::string_view bold = " font-weight=\"bold\"";
  text(left, 26, fmt::format("{}: {} targets, {} sources", job.kernel, job.targets, job.sources),
       bold);
  text(left, y, fmt::format("Measured on this host: {} a run", duration_text(p.measured.seconds)));
  y += 10;
  double x = left;
  for (std::size_t k = 0; k < p.measured.parts.size(); ++k) {
    const double width = share(p.measured.parts[k].seconds, p.measured.seconds) * (right - left);
    rectangle(x, y, width, bar, k);
    x += width;
  }
  y += bar + line;
  for (std::size_t k = 0; k < p.measured.parts.size(); ++k)
    label(k, p.measured.parts[k], p.measured.seconds);
  y += line;
  text(left, y,
       fmt::format("Predicted for the real board: {} a run, parts work at the same time",
                   duration_text(p.predicted.seconds)));
  y += 10;
  for (std::size_t k = 0; k < p.predicted.parts.size(); ++k) {
    body += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#999999\"/>\n",
        left, y, right - left, bar - 6);
    rectangle(left, y, share(p.predicted.parts[k].seconds, p.predicted.seconds) * (right - left),
              bar - 6, k);
    y += bar;
  }
  y += line;
  for (std::size_t k = 0; k < p.predicted.parts.size(); ++k)
    label(k, p.predicted.parts[k], p.predicted.seconds);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n{2}</svg>\n",
      right + left, y + 10, body);
}

}  // namespace gdr::cli
