// `gdr predict`: time and rate of a job on a described machine, without running it.
#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>

#include "gdr/kernel.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/kernels.hpp"
#include "libgdr/cli/predict_host.hpp"
#include "libgdr/cli/predict_report.hpp"
#include "libgdr/cli/watched.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/io/atomic_file.hpp"
#include "libgdr/predict/jobs.hpp"
#include "libgdr/predict/machine.hpp"
#include "libgdr/predict/response.hpp"
#include "libgdr/predict/streams.hpp"

namespace gdr::cli::predict_command {
namespace {

using predict::Machine;
using predict::Prediction;

struct Options {
  std::string job, machine, size, grid, block, particles, targets, sources, partition, output, csv;
  std::optional<double> clocks, flops;
  std::vector<std::string> settings;
  bool no_overlap = false, scaling = false, json = false, resident = false;
  HostOptions host;
  // The job network.
  std::string streams, congestion;
  std::vector<std::string> different;
  std::optional<double> rate, rtt, mtu, loss, jitter, window, queue, queue_bytes, pace, seconds,
      warm_up, host_rate;
  std::uint64_t seed = 1;
  bool delayed_acks = false, round_robin = false, periodic_loss = false, pacing = false,
       response = false;
};

enum JobKind : unsigned {
  Particles = 1,
  Product = 2,
  Lu = 4,
  Hpl = 8,
  Published = 16,
  Show = 32,
  List = 64,
  Streams = 128
};

/// Jobs other than kernels.
constexpr std::pair<std::string_view, JobKind> named_jobs[] = {
    {"product", Product},     {"lu", Lu},        {"hpl", Hpl},      {"network", Streams},
    {"published", Published}, {"machine", Show}, {"machines", List}};

/// The jobs to which an option applies: others refuse it.
constexpr std::pair<std::string_view, unsigned> option_uses[] = {
    {"--particles", Particles},
    {"--targets", Particles},
    {"--sources", Particles},
    {"--partition", Particles},
    {"--clocks", Particles},
    {"--flops", Particles},
    {"--size", Product | Lu | Hpl},
    {"--block", Lu | Hpl},
    {"--grid", Particles | Hpl},
    {"--no-overlap", Particles | Lu | Hpl},
    {"--resident", Particles},
    {"--scaling", Particles | Product | Lu | Hpl},
    {"--csv", Particles | Product | Lu | Hpl | Streams},
    {"--output", Show},
    {"--machine", Particles | Product | Lu | Hpl | Show},
    {"--set", Particles | Product | Lu | Hpl | Show},
    {"--host", Particles},
    {"--json", Particles | Product | Lu | Hpl | Published | List | Streams},
    {"--streams", Streams},
    {"--stream", Streams},
    {"--rate", Streams},
    {"--rtt", Streams},
    {"--mtu", Streams},
    {"--window", Streams},
    {"--congestion", Streams},
    {"--pace", Streams},
    {"--pacing", Streams},
    {"--host-rate", Streams},
    {"--periodic-loss", Streams},
    {"--response", Streams},
    {"--delayed-acks", Streams},
    {"--queue", Streams},
    {"--queue-bytes", Streams},
    {"--loss", Streams},
    {"--jitter", Streams},
    {"--round-robin", Streams},
    {"--seconds", Streams},
    {"--warm-up", Streams},
    {"--seed", Streams},
};

template <typename Table>
std::vector<std::string_view> names_of(const Table& table) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : table) names.push_back(name);
  return names;
}

JobKind kind_of(const std::string& job) {
  for (const auto& [name, kind] : named_jobs)
    if (name == job) return kind;
  return Particles;
}

void refuse_unused_options(const CLI::App& app, const std::string& job, JobKind kind) {
  for (const auto& [name, jobs] : option_uses)
    if (app.get_option(std::string(name))->count() > 0 && (jobs & kind) == 0)
      throw usage_error("{} does not apply to the job {}", name, job);
}

/// A whole number: digits, or 1e6.
std::size_t parse_count(std::string_view what, std::string_view text, double least, double most) {
  const double value = parse_number(what, text);
  if (value < least || value > most || value != std::floor(value))
    throw usage_error("{}: '{}' is not a whole number from {:g} to {:g}", what, text, least, most);
  return static_cast<std::size_t>(value);
}

/// Numbers with an x between them.
std::vector<std::size_t> parse_counts(std::string_view what, std::string_view text, double most) {
  std::vector<std::size_t> list;
  for (const auto part : std::views::split(text, 'x')) {
    const std::string_view number(part.begin(), part.end());
    if (number.empty())
      throw usage_error("{}: '{}' lacks a number {} an x", what, text,
                        part.begin() == text.begin() ? "before" : "after");
    const bool whole = number.size() == text.size();
    list.push_back(
        parse_count(whole ? std::string(what) : fmt::format("{} {}", what, text), number, 1, most));
  }
  return list;
}

constexpr double max_rows = 1e8, max_particles = 1e10, max_nodes = 1048576;

Partition parse_partition(const std::string& name) {
  static constexpr std::pair<std::string_view, Partition> known[] = {
      {"auto", Partition::Auto},
      {"targets", Partition::TargetsOverBlocks},
      {"sources", Partition::SourcesOverBlocks}};
  for (const auto& [text, partition] : known)
    if (text == name) return partition;
  throw usage_error("{}", unknown_name("--partition", name, names_of(known)));
}

/// ROWSxCOLUMNS of --grid.
std::optional<std::pair<std::size_t, std::size_t>> parse_grid(const Options& o) {
  if (o.grid.empty()) return {};
  const auto sizes = parse_counts("--grid", o.grid, max_nodes);
  if (sizes.size() != 2) throw usage_error("--grid: write it as ROWSxCOLUMNS, as 8x8");
  return std::pair(sizes[0], sizes[1]);
}

predict::ParticleJob particle_job(const Options& o) {
  const std::string all = o.particles;
  if (all.empty() && (o.targets.empty() || o.sources.empty()))
    throw usage_error("give --particles N, or --targets N and --sources N");
  const auto count = [&](std::string_view name, const std::string& one) {
    return one.empty() ? parse_count("--particles", all, 0, max_particles)
                       : parse_count(name, one, 0, max_particles);
  };
  predict::ParticleJob job;
  job.targets = count("--targets", o.targets);
  job.sources = count("--sources", o.sources);
  if (!o.partition.empty()) job.partition = parse_partition(o.partition);
  job.resident = o.resident;
  job.overlap = !o.no_overlap;
  return job;
}

predict::JobOn particles(const Options& o) {
  const Kernel given = find_kernel(o.job, "job", names_of(named_jobs));
  const Kernel kernel =
      watched([&](const std::stop_token& stop, const std::function<void(double)>& progress) {
        return given.scheduled(stop, progress);
      });
  const predict::ParticleJob job = particle_job(o);
  const std::optional<double> clocks = o.clocks, flops = o.flops;
  if (flops && (*flops < 0 || *flops > 1e9)) throw usage_error("--flops: must be from 0 to 1e9");
  std::optional<predict::ParticleGrid> grid;
  if (const auto sizes = parse_grid(o)) grid = predict::ParticleGrid{sizes->first, sizes->second};
  return [=](const Machine& machine) {
    predict::KernelShape shape = predict::kernel_shape(kernel, machine.geometry());
    if (clocks)
      shape = predict::with_clocks(shape, fmt::format("{} in {:g} clocks", shape.name, *clocks),
                                   *clocks, flops.value_or(shape.flops));
    if (flops) shape.flops = *flops;
    return predict::predict_particles(machine, shape, job, grid);
  };
}

int on_host(const Options& o) {
  const predict::ParticleJob job = particle_job(o);
  const Kernel kernel = find_kernel(o.job, "job", names_of(named_jobs));
  report_on_host(kernel, job.targets, job.sources, o.host, o.json);
  return 0;
}

predict::JobOn product(const Options& o) {
  if (o.size.empty()) throw usage_error("give --size N, or --size MxNxK");
  std::vector<std::size_t> sizes = parse_counts("--size", o.size, max_rows);
  if (sizes.size() == 1) sizes.assign(3, sizes[0]);
  if (sizes.size() != 3)
    throw usage_error("--size: write it as N, for N x N matrices, or MxNxK, for M x K by K x N");
  return [sizes](const Machine& machine) {
    return predict::predict_product(machine, sizes[0], sizes[1], sizes[2]);
  };
}

/// One number of --size.
std::size_t rows_of(const Options& o) {
  const std::vector<std::size_t> sizes = parse_counts("--size", o.size, max_rows);
  if (sizes.size() != 1) throw usage_error("--size: give one number, the rows of the matrix");
  return sizes[0];
}

predict::JobOn lu(const Options& o) {
  if (o.size.empty()) throw usage_error("give --size N");
  const std::size_t n = rows_of(o);
  const std::size_t block = o.block.empty() ? 0 : parse_count("--block", o.block, 1, max_rows);
  return [n, block, overlap = !o.no_overlap](const Machine& machine) {
    return predict::predict_lu(machine, n, block, overlap);
  };
}

/// Without a size: the largest matrix that fits the machine, or one node with --scaling.
predict::JobOn hpl(const Options& o, const Machine& whole) {
  predict::HplJob job;
  job.look_ahead = !o.no_overlap;
  if (!o.block.empty()) job.block = parse_count("--block", o.block, 1, max_rows);
  if (!o.size.empty()) job.n = rows_of(o);
  if (const auto sizes = parse_grid(o)) {
    if (o.scaling) throw usage_error("--grid: cannot be combined with --scaling");
    job.rows = sizes->first;
    job.columns = sizes->second;
    if (o.size.empty()) job.n = predict::largest_matrix(whole, job);
    return [job](const Machine& machine) { return predict::predict_hpl(machine, job); };
  }
  if (o.size.empty() && o.scaling) job.n = predict::largest_matrix(whole, job);
  return [job](const Machine& machine) { return predict::predict_hpl_on_best_grid(machine, job); };
}

Machine machine_of(const Options& o) {
  Machine machine = predict::find_machine(
      o.machine.empty() ? std::string(predict::presets().front().name) : o.machine);
  for (const std::string& text : o.settings) {
    const Setting s = split_setting("--set", text);
    try {
      const predict::KeyInfo& info = predict::find_key(s.name);
      machine.set(info.key, parse_number(s.name, s.value), predict::Origin::Assumed,
                  "set on the command line");
    } catch (const Error& error) {
      throw Error(error.category(), std::string("--set ") + error.what());
    }
  }
  return machine;
}

/// Changes a stream by `NAME=VALUE[,...]`.
predict::Stream different_stream(predict::Stream stream, const std::string& text) {
  for (const auto part : std::views::split(text, ',')) {
    const Setting s = split_setting("--stream", std::string(part.begin(), part.end()));
    const std::pair<std::string_view, double*> numbers[] = {{"rtt", &stream.rtt},
                                                            {"mtu", &stream.mtu},
                                                            {"window", &stream.window},
                                                            {"pace", &stream.pace},
                                                            {"start", &stream.start},
                                                            {"backlog", &stream.backlog},
                                                            {"reference", &stream.reference},
                                                            {"host_rate", &stream.host_rate}};
    const auto found =
        std::ranges::find(numbers, s.name, &std::pair<std::string_view, double*>::first);
    if (found != std::ranges::end(numbers)) {
      *found->second = parse_number("--stream " + s.name, s.value);
    } else if (s.name == "congestion") {
      stream.control = predict::parse_congestion(s.value);
    } else if (s.name == "pacing") {
      if (s.value != "0" && s.value != "1") throw usage_error("--stream pacing: must be 0 or 1");
      stream.pacing = s.value == "1";
    } else {
      std::vector<std::string_view> known = names_of(numbers);
      known.insert(known.end(), {"congestion", "pacing"});
      throw usage_error("{}", unknown_name("value of --stream", s.name, known));
    }
  }
  return stream;
}

/// Response functions, for the conditions of response.hpp.
int response(const CLI::App& app, const Options& o) {
  for (const auto& [name, jobs] : option_uses)
    if (jobs == Streams && name != "--response" && app.get_option(std::string(name))->count() > 0)
      throw usage_error("{} does not apply to --response, whose conditions are fixed", name);
  if (!o.csv.empty()) check_writable(o.csv);
  const std::vector<predict::ResponsePoint> points = predict::response_functions();
  if (!o.csv.empty()) write_file_atomically(o.csv, predict::response_csv(points));
  report_response(points, o.json);
  return 0;
}

int network(const Options& o) {
  if (!o.csv.empty()) throw usage_error("--csv requires --response");
  predict::Path path;
  predict::Stream stream;
  path.rate = o.rate.value_or(path.rate);
  path.loss = o.loss.value_or(0);
  path.periodic_loss = o.periodic_loss;
  if (o.periodic_loss && !(path.loss > 0))
    throw usage_error("--periodic-loss: needs --loss P, a rate above 0");
  if (o.round_robin) path.merge = predict::Merge::RoundRobin;
  stream.rtt = o.rtt.value_or(stream.rtt);
  stream.mtu = o.mtu.value_or(stream.mtu);
  path.queue_packets = o.queue.value_or(1e15);
  path.jitter = o.jitter;
  if (o.queue_bytes)
    path.queue_bytes = *o.queue_bytes;
  else if (!o.queue)
    path.queue_bytes = std::max(path.rate * stream.rtt, 40 * stream.mtu);
  stream.window = o.window.value_or(stream.window);
  stream.pace = o.pace.value_or(0);
  stream.delayed_acks = o.delayed_acks;
  stream.pacing = o.pacing;
  stream.host_rate = o.host_rate.value_or(stream.host_rate);
  if (!o.congestion.empty()) stream.control = predict::parse_congestion(o.congestion);
  if (!o.streams.empty() && !o.different.empty())
    throw usage_error("give --streams N for equal streams, or --stream for each one, not both");
  const std::size_t count = o.streams.empty() ? 1 : parse_count("--streams", o.streams, 1, 256);
  std::vector<predict::Stream> streams(count, stream);
  if (!o.different.empty()) streams.clear();
  for (const std::string& text : o.different) streams.push_back(different_stream(stream, text));
  for (const predict::Stream& s : streams)
    if (s.pace > 0 && s.control != predict::Congestion::Paced)
      throw usage_error("--pace: needs --congestion paced");
  const double seconds = o.seconds.value_or(100), warm_up = o.warm_up.value_or(0);
  const predict::StreamsResult result =
      predict::simulate_streams(path, streams, seconds, warm_up, o.seed);
  report_streams(path, streams, result, seconds - warm_up, o.json);
  return 0;
}

int show_machine(const Options& o, const Machine& machine) {
  if (o.output.empty()) {
    report_machine(machine);
    return 0;
  }
  refuse_same_file(o.machine, o.output);
  write_text(o.output, predict::machine_json(machine));
  return 0;
}

int work(const CLI::App& app, const Options& o) {
  const JobKind kind = kind_of(o.job);
  refuse_unused_options(app, o.job, kind);
  check_host_options(app, o.host);
  if (kind == Published) {
    report_published(predict::published_table(), o.json);
    return 0;
  }
  if (kind == List) {
    report_machines(o.json);
    return 0;
  }
  if (kind == Streams) return o.response ? response(app, o) : network(o);
  if (o.host.wanted) return on_host(o);
  const Machine machine = machine_of(o);
  verbose("machine", "{}: {}", machine.name, machine.summary);
  if (kind == Show) return show_machine(o, machine);
  if (!o.csv.empty() && !o.scaling) throw usage_error("--csv requires --scaling");
  const predict::JobOn job = kind == Product ? product(o)
                             : kind == Lu    ? lu(o)
                             : kind == Hpl   ? hpl(o, machine)
                                             : particles(o);
  if (!o.scaling) {
    const Prediction prediction = job(machine);
    report_prediction(prediction, machine, predict::gains(machine, job, prediction), o.json);
    return 0;
  }
  if (!o.csv.empty()) check_writable(o.csv);
  const std::vector<predict::ScalingPoint> points =
      predict::strong_scaling(machine, job, kind == Hpl);
  if (!o.csv.empty()) write_file_atomically(o.csv, predict::scaling_csv(points));
  report_scaling(points, machine, o.json);
  return 0;
}

Action prepare(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("JOB", o->job,
                 "a kernel (its name, or a file), product, lu, hpl, network; or published, "
                 "machine, machines")
      ->required();
  add_text(app, "--machine", o->machine, "MACHINE",
           "a known machine, or a file .json (default: board4)");
  add_repeatable(app, "--set", o->settings, "another value of the machine", "KEY=VALUE");
  add_text(app, "--particles", o->particles, "N", "particles, all of them targets and sources");
  add_text(app, "--targets", o->targets, "N", "targets, if they differ from the sources");
  add_text(app, "--sources", o->sources, "N", "sources");
  add_text(app, "--partition", o->partition, "auto|targets|sources",
           "partition of the work over blocks");
  add_number(app, "--clocks", o->clocks, "C", "clocks an interaction, instead of the kernel's own");
  add_number(app, "--flops", o->flops, "F", "operations counted for one, instead of the kernel's");
  add_host_options(app, o->host);
  add_text(app, "--size", o->size, "N", "rows of the matrices; of a product also MxNxK");
  add_text(app, "--block", o->block, "N", "columns of a panel (default: hpl 2048; lu the fastest)");
  add_text(app, "--grid", o->grid, "RxC",
           "nodes as a grid, ROWSxCOLUMNS (default: the fastest, which may leave nodes idle)");
  app.add_flag("--no-overlap", o->no_overlap,
               "panels and updates in sequence, without overlap; results of remote boards in one "
               "piece");
  app.add_flag("--resident", o->resident, "the boards hold the sources of a previous run");
  app.add_flag("--scaling", o->scaling, "strong scaling: the job on growing parts of the machine");
  add_text(app, "--csv", o->csv, "FILE",
           "with --scaling or --response: write the points as comma-separated values");
  add_text(app, "-o,--output", o->output, "FILE",
           "with the job machine: write its file; - prints it");
  add_text(app, "--streams", o->streams, "N", "network: equal streams (default: 1)");
  add_repeatable(app, "--stream", o->different,
                 "network: one stream, with values other than those of the options: rtt, mtu, "
                 "window, congestion, pacing, pace, backlog, reference, host_rate, start",
                 "NAME=VALUE[,...]");
  add_number(app, "--rate", o->rate, "R",
             "network: bytes/s on the line (default: 125e6, 1 Gbit/s)");
  add_number(app, "--rtt", o->rtt, "S",
             "network: round trip without queues, seconds (default: 0.1)");
  add_number(app, "--mtu", o->mtu, "BYTES", "network: packets, headers included (default: 1500)");
  add_number(app, "--window", o->window, "BYTES", "network: largest window (default: no limit)");
  add_text(app, "--congestion", o->congestion,
           "reno|highspeed|scalable|htcp|bic|westwood|cubic|fast|griddt|paced",
           "network: congestion control (default: reno)");
  app.add_flag("--pacing", o->pacing,
               "network: packets at equal distances in a round trip, not in bursts");
  add_number(app, "--pace", o->pace, "R",
             "network: bytes/s of a paced stream (default: estimated)");
  add_number(app, "--host-rate", o->host_rate, "R",
             "network: bytes/s that the hosts can take: bus or disk (default: no limit)");
  app.add_flag("--delayed-acks", o->delayed_acks,
               "network: receivers acknowledge every second segment");
  add_number(app, "--queue", o->queue, "N", "network: packets that the queue holds");
  add_number(app, "--queue-bytes", o->queue_bytes, "BYTES",
             "network: bytes that the queue holds (default: rate times RTT, at least 40 packets)");
  add_number(app, "--loss", o->loss, "P", "network: probability that a packet is lost elsewhere");
  app.add_flag("--periodic-loss", o->periodic_loss,
               "network: with --loss P, each 1/P-th packet of a stream is lost, not random ones");
  app.add_flag("--response", o->response,
               "network: throughput over the loss rate for every congestion control, with closed "
               "forms");
  add_number(
      app, "--jitter", o->jitter, "S",
      "network: largest random delay before the queue (default: a packet's time on the line)");
  app.add_flag("--round-robin", o->round_robin,
               "network: streams leave the queue a packet each in turn");
  add_number(app, "--seconds", o->seconds, "S", "network: simulated time (default: 100)");
  add_number(app, "--warm-up", o->warm_up, "S",
             "network: seconds that the averages leave out (default: 0)");
  add_whole_number(app, "--seed", o->seed,
                   "network: seed of random delays and losses (default: 1)");
  add_json_option(app, o->json);
  return [o, &app] { return work(app, *o); };
}

std::vector<std::string> words(std::string_view type) {
  std::vector<std::string> names;
  if (type == "JOB") {
    names = Kernel::builtin_names();
    for (const std::string_view name : names_of(named_jobs)) names.emplace_back(name);
  }
  if (type == "MACHINE")
    for (const predict::Preset& preset : predict::presets()) names.emplace_back(preset.name);
  return names;
}

const Registration registration{
    {.name = "predict",
     .summary = "predict time and rate of a job on a described machine",
     .example =
         "gdr predict published\n"
         "gdr predict gravity --particles 131072\n"
         "gdr predict gravity --particles 1e6 --host --accuracy 1e-3\n"
         "gdr predict hpl --machine cluster64 --json\n"
         "gdr predict gravity --particles 1e6 --machine plan4096 --scaling --csv points.csv\n"
         "gdr predict gravity --particles 65536 --set remote.rate=125e6 --set remote.rtt=0.2\n"
         "gdr predict network --rate 125e6 --rtt 0.2 --loss 1e-5 --streams 8\n"
         "gdr predict network --response --csv responses.csv",
     .group = Group::Machine,
     .prepare = prepare,
     .details =
         "Nothing runs: models of board, host and network add up the cost of the steps. For a\n"
         "kernel the result is one force calculation, with all data sent and fetched once; for a\n"
         "board, clocks and seconds are those that the emulated board would count. Only --host\n"
         "runs a kernel, on this host for part of a second, and says how long a call will take.\n"
         "'published' compares the model with published figures. 'machine' shows all values of\n"
         "a machine with their sources; with -o FILE it writes them as a file to edit.\n\n"
         "'network' simulates TCP streams that share a line: throughput, losses and the queue,\n"
         "packet by packet. A machine with remote.rate > 0 has its boards behind such a line.",
     .words = words}};

}  // namespace
}  // namespace gdr::cli::predict_command
