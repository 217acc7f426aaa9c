// Particle jobs on boards in another host, and on boards that hold the sources.
#include "libgdr/predict/remote.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "gdr/device.hpp"
#include "gdr/error.hpp"
#include "gdr/kernel.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/predict/jobs.hpp"
#include "libgdr/predict/scaling.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::predict;

namespace {

Machine with(Machine machine, Key key, double value) {
  machine.set(key, value, Origin::Assumed, "test");
  return machine;
}

Machine remote_board(double rate, double rtt) {
  return with(with(preset("board4"), Key::RemoteRate, rate), Key::RemoteRtt, rtt);
}

Prediction gravity_on(const Machine& machine, std::size_t n, bool resident = false,
                      bool overlap = true) {
  const KernelShape kernel = kernel_shape(Kernel::builtin("gravity"), machine.geometry());
  ParticleJob job{n, n};
  job.resident = resident;
  job.overlap = overlap;
  return predict_particles(machine, kernel, job);
}

}  // namespace

TEST_CASE("a path carries what its line, its windows or its losses allow") {
  const double share = payload_share(1500);
  CHECK(RemotePath(remote_board(1e8, 0.1)).throughput() == Approx(1e8 * share));
  const Machine window = with(remote_board(1e8, 0.1), Key::RemoteWindow, 65535);
  CHECK(RemotePath(window).throughput() == Approx(655350));
  CHECK(RemotePath(with(window, Key::RemoteStreams, 4)).throughput() == Approx(4 * 655350));
  CHECK(RemotePath(with(window, Key::RemoteStreams, 256)).throughput() == Approx(1e8 * share));
  const Machine loss = with(remote_board(1e8, 0.1), Key::RemoteLoss, 1e-4);
  CHECK(RemotePath(loss).throughput() == Approx(loss_limit(1460, 0.1, 1e-4, true)));
}

TEST_CASE("the slowest stage of a remote run determines all pieces but one") {
  const RemotePath path(with(remote_board(1e6, 1), Key::RemoteMtu, 65536));
  const double rate = path.throughput();
  const auto seconds = [&](std::size_t pieces, double in, double board, double out, bool overlap) {
    return remote_seconds(path, {pieces, 0, in * rate, out * rate, board, overlap});
  };
  CHECK(seconds(1, 2, 3, 4, true) == Approx(1 + 2 + 3 + 4));
  CHECK(seconds(5, 2, 3, 4, false) == Approx(1 + 2 + 3 + 4));
  CHECK(seconds(10, 2, 3, 4, true) == Approx(1 + 0.9 + 9 * 0.4));
  CHECK(seconds(10, 2, 8, 4, true) == Approx(1 + 1.4 + 9 * 0.8));
  CHECK(remote_seconds(path, {1, rate, 0, 0, 0, true}) == Approx(2));
}

TEST_CASE("a remote board adds a round trip and its transfers, which resident sources shorten") {
  constexpr std::size_t n = 65536;
  const double local = gravity_on(preset("board4"), n).seconds;
  const Machine far = remote_board(125e6, 0.2);
  const double all = gravity_on(far, n).seconds, kept = gravity_on(far, n, true).seconds;
  CHECK(all > local + 0.2);
  CHECK(kept > local + 0.19);
  CHECK(kept < all);
  CHECK(gravity_on(far, n, true, false).seconds > kept);
  // The sources' 8 words of 5 numbers take their time on the line, besides that on the board's
  // link.
  CHECK(all - kept > 5 * 8 * n / 125e6);
  // An endless line next door is a local board.
  CHECK(gravity_on(remote_board(1e18, 0), n).seconds == Approx(local).epsilon(1e-6));
  for (const double busy : gravity_on(far, n).usage.seconds) CHECK(busy <= all);
}

TEST_CASE("the network is the bottleneck of a small job on a remote board") {
  const Machine far = remote_board(125e6, 0.2);
  const JobOn job = [](const Machine& m) { return gravity_on(m, 1024); };
  const Prediction p = job(far);
  CHECK(bottleneck(gains(far, job, p), p) == "network");
}

TEST_CASE("resident sources are not sent: bytes equal those of an emulated board's later runs") {
  const Kernel kernel = Kernel::builtin("gravity");
  for (const std::size_t ni : {10, 300})
    for (const char* memory : {"", ",dram=4096"}) {
      const std::string name =
          std::string("exact:threads=1,chips=2,blocks=2,pes=4,partition=targets") + memory;
      const DeviceName parsed = parse_device_name(name, {});
      constexpr std::size_t nj = 333;
      Device device = Device::open(name);
      Job job = device.job(kernel);
      const std::vector<double> values(nj, 0.5);
      const std::vector<std::int64_t> integers(nj, 1);
      std::vector<NamedInput> sources, targets;
      const std::vector<NamedResult> results;
      std::vector<std::string> names;
      names.reserve(64);
      for (const KernelVariable& v : kernel.variables()) {
        names.push_back(v.name);
        const ConstArray array =
            v.type == HostNumber::F64 ? ConstArray(values) : ConstArray(integers.data());
        if (v.role == Role::Source) sources.push_back({names.back(), array});
        if (v.role == Role::Target) targets.push_back({names.back(), array});
        if (v.role == Role::Param) job.set(v.name, 0.25);
      }
      job.sources(nj, sources);
      job.targets(ni, targets);
      job.run(results);
      device.reset_statistics();
      job.targets(ni, targets);
      job.run(results);
      const Statistics s = device.statistics();
      ParticleJob again{ni, nj, parsed.options.partition};
      again.resident = true;
      const BoardTime time = particle_time(kernel_shape(kernel, parsed.geometry), parsed.geometry,
                                           {}, parsed.options.boards, again);
      INFO(name << " " << ni);
      CHECK(time.bytes_to_board == s.bytes_to_board);
      CHECK(time.bytes_from_board == s.bytes_from_board);
      CHECK(time.clocks.total == s.chip_clocks);
      CHECK(time.seconds == Approx(s.predicted_seconds).epsilon(1e-12));
    }
}

TEST_CASE("jobs that are not modelled on remote boards are errors") {
  const Machine far = remote_board(125e6, 0.2);
  CHECK_THROWS_AS(predict_product(far, 10, 10, 10), Error);
  CHECK_THROWS_AS(predict_lu(far, 100, 0, true), Error);
  CHECK_THROWS_AS(predict_hpl(far, {1000}), Error);
  CHECK_THROWS_AS(gravity_on(with(far, Key::NetworkNodes, 2), 100), Error);
}
