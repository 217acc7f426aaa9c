// Texts and JSON of `gdr predict`.
#include "libgdr/cli/predict_report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/host/parse_number.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/output.hpp"

namespace gdr::cli {
namespace {

/// A number rounded to four digits.
double with_four_digits(double value) {
  return parse_all<double>(fmt::format("{:.4g}", value)).value_or(value);
}

using predict::KernelFigures;
using predict::Prediction;
using predict::Resource;

constexpr ReportRow prediction_row{22};

std::string seconds_text(double seconds) {
  if (seconds >= 1 || seconds == 0) return fmt::format("{:.4g} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.4g} ms", 1e3 * seconds)
                         : fmt::format("{:.4g} us", 1e6 * seconds);
}

std::string rate_text(double gflops) {
  return gflops >= 1e4 ? fmt::format("{:.4g} Tflops", 1e-3 * gflops)
                       : fmt::format("{:.4g} Gflops", gflops);
}

double mflops_a_watt(const Prediction& p, const predict::Machine& machine) {
  return share(1e3 * p.gflops(), machine.power());
}

Json prediction_json(const Prediction& p, const predict::Machine& machine) {
  Json json{{"job", p.job},
            {"machine", p.machine},
            {"seconds", p.seconds},
            {"flops", p.flops},
            {"gflops", p.gflops()},
            {"peak_gflops", 1e-9 * p.peak},
            {"watts", machine.power()},
            {"mflops_per_watt", mflops_a_watt(p, machine)}};
  for (std::size_t r = 0; r < predict::resource_count; ++r) {
    const auto resource = static_cast<Resource>(r);
    json["resources"][std::string(resource_name(resource))] = {
        {"seconds", p.usage[resource]}, {"share", share(p.usage[resource], p.seconds)}};
  }
  json["details"] = Json::object();
  for (const auto& [name, value] : p.details) json["details"][name] = value;
  return json;
}

/// The size from which more hardware hardly helps.
std::string scaling_end(const std::vector<predict::ScalingPoint>& points) {
  const std::size_t last = predict::last_that_pays(points);
  const predict::ScalingPoint& p = points[last];
  const std::string place =
      p.chips > 0 ? fmt::format("{} chips", p.chips) : fmt::format("{} nodes", p.nodes);
  if (last + 1 == points.size()) return fmt::format("scales up to the whole machine, {}", place);
  return fmt::format(
      "stops scaling at {}: beyond, the efficiency is below one half; bottleneck: {}", place,
      points[last + 1].bottleneck);
}

std::string kernel_row(const KernelFigures& k) {
  return fmt::format("{:<32}{:>8.4g}{:>7.4g}{:>12.4g}{:>12.4g}{:>13.4g}\n", k.name, k.clocks,
                     k.flops, k.asymptotic, k.small, k.large);
}

Json kernel_json(const KernelFigures& k) {
  return {{"kernel", k.name},
          {"clocks_per_interaction", k.clocks},
          {"flops_per_interaction", k.flops},
          {"gflops_asymptotic", k.asymptotic},
          {fmt::format("gflops_{}", predict::small_particles), k.small},
          {fmt::format("gflops_{}", predict::large_particles), k.large}};
}

}  // namespace

void report_prediction(const Prediction& p, const predict::Machine& machine,
                       const std::vector<predict::Gain>& gains, bool json) {
  const std::string_view bottleneck = predict::bottleneck(gains, p);
  if (json) {
    Json object = prediction_json(p, machine);
    object["bottleneck"] = bottleneck;
    for (const predict::Gain& gain : gains)
      object["saved_if_twice_as_fast"][std::string(gain.part)] = gain.saved;
    print_json(object);
    return;
  }
  std::string text = p.job + "\n";
  text += prediction_row("machine", "{}: {}", machine.name, machine.summary);
  text += prediction_row("time", "{}", seconds_text(p.seconds));
  text += prediction_row("rate", "{}, {:.3g} % of {}", rate_text(p.gflops()),
                         100 * share(1e9 * p.gflops(), p.peak), rate_text(1e-9 * p.peak));
  text += prediction_row("power", "{:.4g} W, {:.4g} Mflops/W", machine.power(),
                         mflops_a_watt(p, machine));
  text += prediction_row("bottleneck", "{}", bottleneck);
  text += "utilisation of resources (concurrent: the sum may exceed 100 %)\n";
  for (std::size_t r = 0; r < predict::resource_count; ++r) {
    const auto resource = static_cast<Resource>(r);
    const double seconds = p.usage[resource];
    if (seconds > 0)
      text += prediction_row(fmt::format("  {}", resource_name(resource)), "{:5.1f} %  {}",
                             100 * share(seconds, p.seconds), seconds_text(seconds));
  }
  text += "time saved if a part were twice as fast\n";
  for (const predict::Gain& gain : gains)
    text += prediction_row(fmt::format("  {}", gain.part), "{:5.1f} %", 100 * gain.saved);
  if (!p.details.empty()) text += "details\n";
  for (const auto& [name, value] : p.details)
    text += fmt::format("  {:<34}{:.10g}\n", name,
                        name.starts_with("seconds") ? with_four_digits(value) : value);
  write_output(text);
}

void report_scaling(const std::vector<predict::ScalingPoint>& points,
                    const predict::Machine& machine, bool json) {
  if (json) {
    Json object{{"machine", machine.name}, {"points", Json::array()}};
    for (const predict::ScalingPoint& p : points) {
      Json point{{"chips", p.chips},           {"boards_per_node", p.boards},
                 {"nodes", p.nodes},           {"speedup", p.speedup},
                 {"efficiency", p.efficiency}, {"bottleneck", p.bottleneck}};
      // The power of a part of a machine is not known: boards may be shared.
      Json prediction = prediction_json(p.prediction, machine);
      prediction.erase("watts");
      prediction.erase("mflops_per_watt");
      point.update(prediction);
      object["points"].push_back(point);
    }
    object["last_that_pays"] = predict::last_that_pays(points);
    print_json(object);
    return;
  }
  std::string text = points.back().prediction.job + "\n";
  text += prediction_row("machine", "{}: {}", machine.name, machine.summary);
  text += fmt::format("{:>8} {:>7} {:>7} {:>12} {:>15} {:>9} {:>11}  {}\n", "chips", "boards",
                      "nodes", "time", "rate", "speedup", "efficiency", "bottleneck");
  for (const predict::ScalingPoint& p : points)
    text +=
        fmt::format("{:>8} {:>7} {:>7} {:>12} {:>15} {:>9.4g} {:>9.1f} %  {}\n", p.chips,
                    p.boards * p.nodes, p.nodes, seconds_text(p.prediction.seconds),
                    rate_text(p.prediction.gflops()), p.speedup, 100 * p.efficiency, p.bottleneck);
  text += scaling_end(points) + "\n";
  write_output(text);
}

void report_published(const predict::PublishedTable& table, bool json) {
  if (json) {
    Json object{{"figures", Json::array()}, {"kernels", Json::array()}};
    for (const predict::PublishedFigure& f : table.figures)
      object["figures"].push_back({{"figure", f.what},
                                   {"machine", f.machine},
                                   {"unit", f.unit},
                                   {"published", f.published},
                                   {"predicted", f.predicted},
                                   {"deviation", f.deviation()},
                                   {"tuned", f.tuned},
                                   {"required", f.required},
                                   {"assumed", f.assumed},
                                   {"source", f.source}});
    for (const predict::KernelPair& k : table.kernels)
      object["kernels"].push_back(
          {{"published", kernel_json(k.published)}, {"ours", kernel_json(k.ours)}});
    print_json(object);
    return;
  }
  std::string text = fmt::format("{:<50}{:>10}{:>11}  {:<10}{:>10}  {}\n", "figure", "published",
                                 "predicted", "", "deviation", "tuned");
  for (const predict::PublishedFigure& f : table.figures)
    text += fmt::format("{:<50}{:>10.5g}{:>11.4g}  {:<10}{:>+8.1f} %  {}\n", f.what, f.published,
                        f.predicted, f.unit, 100 * f.deviation(), f.tuned);
  std::string_view before;
  for (const predict::PublishedFigure& f : table.figures) {
    if (f.assumed.empty() || f.assumed == before) continue;
    if (before.empty()) text += "\nConditions of networks that the publications do not give\n";
    text += wrap(fmt::format("{}: {}", f.what, f.assumed), 4) + "\n";
    before = f.assumed;
  }
  text += fmt::format(
      "\nGflops of one chip at 500 MHz; for N particles on one another, with all transfers\n"
      "{:<32}{:>8}{:>7}{:>12}{:>12}{:>13}\n",
      "kernel", "clocks", "flops", "asymptotic", fmt::format("N = {}", predict::small_particles),
      fmt::format("N = {}", predict::large_particles));
  for (const predict::KernelPair& k : table.kernels) {
    KernelFigures ours = k.ours;
    ours.name = "  this library's " + ours.name;
    text += kernel_row(k.published) + kernel_row(ours);
  }
  text +=
      "\nThe JSON (--json) has the sources of the published figures; 'gdr predict machine\n"
      "--machine NAME' shows the values of a machine with their sources.\n";
  write_output(text);
}

namespace {

/// What closed forms allow a stream, for comparison with its simulation.
struct StreamLimits {
  double window, loss;  ///< bytes/s
  double recovery;      ///< seconds
};

StreamLimits limits_of(const predict::Path& path, const predict::Stream& s) {
  const double mss = predict::mss_of(s.mtu);
  return {predict::window_limit(s.window, s.rtt),
          predict::loss_limit(mss, s.rtt, path.loss, s.delayed_acks),
          predict::recovery_time(path.rate * predict::payload_share(s.mtu), s.rtt, mss,
                                 s.delayed_acks)};
}

std::string megabits(double bytes) {
  return bytes < 1e14 ? fmt::format("{:.4g}", 8e-6 * bytes) : std::string("-");
}

Json stream_json(const predict::Path& path, const predict::Stream& s,
                 const predict::StreamResult& r) {
  const StreamLimits limits = limits_of(path, s);
  Json json{{"rtt", s.rtt},
            {"mtu", s.mtu},
            {"congestion", predict::congestion_name(s.control)},
            {"pacing", s.pacing},
            {"bytes_per_second", r.throughput},
            {"losses", r.losses},
            {"reductions", r.reductions},
            {"seconds_between_reductions", r.cycle},
            {"reno_recovery_seconds", limits.recovery}};
  if (s.window < 1e17) json["window_limit"] = limits.window;
  if (path.loss > 0) json["reno_loss_limit"] = limits.loss;
  return json;
}

}  // namespace

void report_streams(const predict::Path& path, const std::vector<predict::Stream>& streams,
                    const predict::StreamsResult& result, double seconds, bool json) {
  if (json) {
    Json object{{"job", "network"},
                {"rate", path.rate},
                {"seconds", seconds},
                {"bytes_per_second", result.throughput},
                {"utilisation", result.utilisation},
                {"largest_queue_bytes", result.largest_queue},
                {"overflows", result.overflows},
                {"streams", Json::array()}};
    for (std::size_t s = 0; s < streams.size(); ++s)
      object["streams"].push_back(stream_json(path, streams[s], result.streams[s]));
    print_json(object);
    return;
  }
  std::string text = fmt::format("{} stream{} on {:.4g} Mbit/s, mean of {:g} s\n", streams.size(),
                                 streams.size() == 1 ? "" : "s", 8e-6 * path.rate, seconds);
  text += prediction_row("throughput", "{} Mbit/s, {:.4g} bytes/s", megabits(result.throughput),
                         result.throughput);
  text += prediction_row("utilisation", "{:.1f} %, headers included", 100 * result.utilisation);
  text += prediction_row("largest queue", "{:.4g} bytes, {} packets lost there",
                         result.largest_queue, result.overflows);
  text +=
      fmt::format("\n{:>9} {:>6}  {:<10}{:>10} {:>8} {:>10}  | {:>9} {:>9} {:>10}\n", "RTT", "MTU",
                  "control", "Mbit/s", "losses", "reductions", "window", "loss", "recovery");
  for (std::size_t k = 0; k < streams.size(); ++k) {
    const predict::Stream& s = streams[k];
    const predict::StreamResult& r = result.streams[k];
    const StreamLimits limits = limits_of(path, s);
    text += fmt::format("{:>9} {:>6g}  {:<10}{:>10} {:>8} {:>10}  | {:>9} {:>9} {:>10}\n",
                        seconds_text(s.rtt), s.mtu, predict::congestion_name(s.control),
                        megabits(r.throughput), r.losses, r.reductions, megabits(limits.window),
                        megabits(limits.loss), seconds_text(limits.recovery));
  }
  text +=
      "\nClosed forms to the right: Mbit/s that the window, and for Reno the losses elsewhere,\n"
      "allow; time in which Reno alone on the line recovers from one loss.\n";
  write_output(text);
}

void report_response(const std::vector<predict::ResponsePoint>& points, bool json) {
  if (json) {
    Json object{{"job", "network response"}, {"points", Json::array()}};
    for (const predict::ResponsePoint& p : points) {
      Json point{{"congestion", predict::congestion_name(p.control)},
                 {"rtt", p.rtt},
                 {"loss", p.loss},
                 {"bytes_per_second", p.simulated}};
      if (p.closed_form) point["closed_form"] = *p.closed_form;
      object["points"].push_back(std::move(point));
    }
    print_json(object);
    return;
  }
  std::string text = fmt::format("{:<10}{:>9}{:>10}{:>12}{:>13}{:>11}\n", "control", "RTT", "loss",
                                 "Mbit/s", "closed form", "deviation");
  for (const predict::ResponsePoint& p : points) {
    text += fmt::format("{:<10}{:>9}{:>10.2g}{:>12}{:>13}", predict::congestion_name(p.control),
                        seconds_text(p.rtt), p.loss, megabits(p.simulated),
                        p.closed_form ? megabits(*p.closed_form) : "");
    text += predict::is_compared(p)
                ? fmt::format("{:>+9.1f} %\n", 100 * (p.simulated / *p.closed_form - 1))
                : "\n";
  }
  text += fmt::format(
      "\nOne stream, packets of 1500 bytes, no queue, windows up to {:g} Gbit/s. No deviation\n"
      "stands where this limit, a window of few segments or too few losses decide.\n",
      8e-9 * predict::response_rate);
  write_output(text);
}

void report_machine(const predict::Machine& machine) {
  std::string text = fmt::format("{}: {}\n", machine.name, machine.summary);
  text += fmt::format("{} chips, {} single precision, {} double, {:.4g} W\n\n", machine.chips(),
                      rate_text(1e-9 * machine.peak_single()),
                      rate_text(1e-9 * machine.peak_double()), machine.power());
  for (const predict::KeyInfo& info : predict::key_table()) {
    const predict::Quantity& q = machine.values[static_cast<std::size_t>(info.key)];
    text += fmt::format("{:<26}{:>12.6g} {:<14}{}\n", info.name, q.value, info.unit, info.meaning);
    text += fmt::format("{:<26}  {}: {}\n", "", origin_name(q.origin), q.source);
  }
  write_output(text);
}

void report_machines(bool json) {
  if (json) {
    Json list = Json::array();
    for (const predict::Preset& p : predict::presets())
      list.push_back({{"name", p.name}, {"summary", p.summary}});
    print_json(Json{{"machines", list}});
    return;
  }
  for (const predict::Preset& p : predict::presets()) print("{:<12}{}\n", p.name, p.summary);
}

}  // namespace gdr::cli
