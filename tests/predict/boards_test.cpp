// Predicted clocks, bytes and seconds of particle jobs against the counters of emulated boards.
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "gdr/error.hpp"
#include "gdr/gdr.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/predict/jobs.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::predict;

namespace {

/// Fixed values for the variables of one role; the results are not used.
class Arrays {
 public:
  Arrays(const Kernel& kernel, Role role, std::size_t n) {
    for (const KernelVariable& v : kernel.variables()) {
      if (v.role != role) continue;
      names_.push_back(v.name);
      if (v.type == HostNumber::F64) {
        auto& values = doubles_.emplace_back(n);
        for (std::size_t i = 0; i < n; ++i) values[i] = number(i, names_.size());
        inputs.push_back({names_.back(), ConstArray(values)});
      } else if (v.type == HostNumber::F32) {
        auto& values = floats_.emplace_back(n);
        for (std::size_t i = 0; i < n; ++i)
          values[i] = static_cast<float>(number(i, names_.size()));
        inputs.push_back({names_.back(), ConstArray(values.data())});
      } else {
        auto& values = integers_.emplace_back(n);
        for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<std::int64_t>(i);
        inputs.push_back({names_.back(), ConstArray(values.data())});
      }
    }
  }
  std::vector<NamedInput> inputs;

 private:
  static double number(std::size_t i, std::size_t salt) {
    return 0.5 + static_cast<double>((i * 2654435761U + salt * 40503U) % 10007) / 10007.0;
  }
  std::list<std::string> names_;
  std::list<std::vector<double>> doubles_;
  std::list<std::vector<float>> floats_;
  std::list<std::vector<std::int64_t>> integers_;
};

/// The counters of a device for a second run: the program is resident, the sources are new.
Statistics counted(const std::string& device_name, const Kernel& kernel, std::size_t ni,
                   std::size_t nj) {
  Device device = Device::open(device_name);
  Job job = device.job(kernel);
  const Arrays targets(kernel, Role::Target, ni), sources(kernel, Role::Source, nj);
  std::vector<double> values(nj);
  std::vector<NamedResult> outputs;
  for (const KernelVariable& v : kernel.variables())
    if (v.role == Role::Output) outputs.push_back({v.name, MutableArray(values)});
  for (const KernelVariable& v : kernel.variables())
    if (v.role == Role::Param) job.set(v.name, 0.25);
  for (int run = 0; run < 2; ++run) {
    job.sources(nj, sources.inputs);
    job.targets(ni, targets.inputs);
    device.reset_statistics();
    job.run(outputs);
  }
  return device.statistics();
}

void compare(const std::string& device_name, const Kernel& kernel, std::size_t ni, std::size_t nj) {
  INFO(device_name << " " << kernel.name() << " " << ni << " x " << nj);
  const DeviceName name = parse_device_name(device_name, {});
  const Statistics s = counted(device_name, kernel, ni, nj);
  const KernelShape shape = kernel_shape(kernel, name.geometry);
  const BoardTime time = particle_time(shape, name.geometry, {}, name.options.boards,
                                       {ni, nj, name.options.partition});
  CHECK(time.clocks.compute == s.compute_clocks);
  CHECK(time.clocks.total == s.chip_clocks);
  CHECK(time.bytes_to_board == s.bytes_to_board);
  CHECK(time.bytes_from_board == s.bytes_from_board);
  CHECK(time.seconds == Approx(s.predicted_seconds).epsilon(1e-12));
  CHECK(shape.flops * static_cast<double>(ni) * static_cast<double>(nj) == Approx(s.flops));
}

void compare(const std::string& device_name, const std::string& kernel_name, std::size_t ni,
             std::size_t nj) {
  compare(device_name, Kernel::builtin(kernel_name), ni, nj);
}

/// A kernel with two outputs for every source.
constexpr const char* reaction_text = R"(
.kernel reaction
.elements 1
ivar long xi f64to72
jvar long xj f64to72
fvar long force f64to72 fadd at $lr24v
ovar long react f64to72 fadd
ovar long first f64to72 pass
.start
    vlen 1
    upass force 0
.body
    vlen 1
    bget $lr0 xj
    fsub $lr8 $lr0 xi
    fadd force force $lr8
    bput react $lr8 0
    bput first $lr8 0
)";

}  // namespace

TEST_CASE("predictions equal the counters of emulated boards for kernels with outputs") {
  const Kernel reaction = Kernel::assemble(reaction_text, "reaction.gds");
  const std::string device = "exact:threads=1,chips=2,blocks=2,pes=1,partition=targets";
  for (const std::size_t ni : {1, 4, 25})
    for (const std::size_t nj : {1, 70, 600}) {
      compare(device, reaction, ni, nj);
      compare(device + ",boards=2,dram=4096", reaction, ni, nj);
    }
}

TEST_CASE("predictions equal the counters of emulated boards for every kernel of the library") {
  for (const std::string& kernel : Kernel::builtin_names())
    for (const char* partition : {"targets", "sources"}) {
      const bool reducible = kernel_cost(Kernel::builtin(kernel).program()).reducible;
      if (!reducible && std::string(partition) == "sources") continue;
      compare(
          "exact:threads=1,chips=2,blocks=4,pes=4,clock=400e6,partition=" + std::string(partition),
          kernel, 50, 333);
    }
}

TEST_CASE("predictions equal the counters of emulated boards for any number of particles") {
  const std::string small = "exact:threads=1,chips=3,blocks=4,pes=4,partition=";
  for (const char* partition : {"auto", "targets", "sources"})
    for (const std::size_t ni : {1, 16, 17, 192, 193, 500})
      for (const std::size_t nj : {0, 1, 7, 64, 601}) compare(small + partition, "gravity", ni, nj);
  compare(small + "auto", "gravity", 0, 10);
}

TEST_CASE("predictions equal the counters of emulated boards for the original geometry") {
  for (const auto& [ni, nj] : {std::pair<std::size_t, std::size_t>{1024, 1024},
                               {100, 2500},
                               {2048, 100},
                               {9000, 50},
                               {1, 1}}) {
    compare("exact", "gravity", ni, nj);
    compare("exact:clock=400e6", "gravity_jerk", ni, nj);
    compare("exact:chips=1", "lennard_jones", ni, nj);
  }
}

TEST_CASE("predictions equal the counters of emulated boards if sources exceed the memory") {
  // The memories do not hold all sources: they are sent again for every batch of targets.
  for (const char* partition : {"targets", "sources"})
    for (const std::size_t nj : {100, 200, 500, 1023})
      compare(
          "exact:threads=1,chips=2,blocks=2,pes=2,dram=4096,partition=" + std::string(partition),
          "gravity", 40, nj);
  // Several blocks between two cancellation points.
  compare("emulator:partition=targets,engine=native", "gravity", 100, 20000);
  compare("emulator:partition=targets,engine=native", "gravity", 100, 8192);
  // More words than one write command can carry.
  compare("emulator:partition=targets,engine=native", "gravity_jerk", 4, 300000);
}

TEST_CASE("predictions equal the counters of emulated boards for few targets on source slices") {
  const std::string small =
      "emulator:threads=1,engine=native,chips=2,blocks=2,pes=2,partition=auto";
  for (const std::size_t ni : {1, 16, 100, 600})
    for (const std::size_t nj : {4095, 4096, 9000, 40001}) {
      compare(small, "gravity", ni, nj);
      compare(small + ",boards=2", "gravity", ni, nj);
    }
  // On engines with host numbers, sources beyond the memories are slices of their own.
  compare("emulator:threads=1,engine=vector,chips=2,blocks=2,pes=2,partition=auto,dram=65536",
          "gravity", 100, 40001);
}

TEST_CASE("predictions equal the counters of several emulated boards") {
  for (const char* boards : {"2", "3"})
    for (const std::size_t ni : {10, 64, 65, 500})
      for (const char* partition : {"targets", "sources"})
        compare("exact:threads=1,chips=2,blocks=2,pes=4,boards=" + std::string(boards) +
                    ",partition=" + partition,
                "gravity", ni, 300);
}

TEST_CASE("a kernel described by its clocks takes that many clocks per interaction") {
  const Geometry g;
  const KernelShape gravity = kernel_shape(Kernel::builtin("gravity"), g);
  const KernelShape published = with_clocks(gravity, "published", 56, 38);
  CHECK(published.clocks_per_interaction() == 56);
  // One batch of 8192 targets: 56 clocks per source for 4 targets, plus transfers over the ports.
  const BoardTime time =
      particle_time(published, g, {}, 1, {8192, 10000, Partition::TargetsOverBlocks});
  CHECK(time.clocks.compute == 56 * 4 * 10000);
  CHECK(time.clocks.total > time.clocks.compute);
  CHECK(time.clocks.total < time.clocks.compute * 11 / 10);
}

TEST_CASE("invalid particle jobs are errors") {
  Geometry g;
  const KernelShape gravity = kernel_shape(Kernel::builtin("gravity"), g);
  CHECK_THROWS_AS(particle_time(gravity, g, {}, 1, {std::size_t{1} << 40, std::size_t{1} << 40}),
                  Error);
  const KernelShape listing = kernel_shape(Kernel::builtin("gravity_neighbours"), g);
  CHECK_THROWS_AS(particle_time(listing, g, {}, 1, {1, 1, Partition::SourcesOverBlocks}), Error);
  g.dram_bytes = 16;
  CHECK_THROWS_AS(particle_time(gravity, g, {}, 1, {1, 1}), Error);
  CHECK(particle_time(gravity, Geometry{}, {}, 1, {0, 100}).seconds == 0);
}
