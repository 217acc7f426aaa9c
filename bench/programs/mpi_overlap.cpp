// The part of the transfer time of sources between ranks that is hidden behind computation: the
// same runs, in alternation, with overlap and without (GDR_MPI_OVERLAP=0: boards start when all
// sources have been received). Prints medians over the runs of means over the ranks.
//
// usage: mpirun -n P bench_mpi_overlap [turns] [device]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "gdr/gdr.hpp"

namespace {

/// One kind of job. With few targets and many sources, each rank receives one slice of the sources;
/// otherwise every rank receives all of them. All sources begin on the last rank: with equal parts,
/// the slices would not have to be sent.
struct Shape {
  const char* what;
  std::size_t targets, sources;
};
constexpr Shape shapes[] = {{"slices", 64, 1U << 21}, {"all to all", 2048, 65000}};

struct Times {
  double seconds = 0, way = 0, waiting = 0;
};

/// Since the device was opened.
Times times_so_far(gdr::Device& device) {
  Times t;
  for (const gdr::RankReport& r : device.rank_reports()) {
    t.seconds += r.seconds / device.ranks();
    t.way += r.sources_seconds / device.ranks();
    t.waiting += r.sources_waiting / device.ranks();
  }
  return t;
}

class Bench {
 public:
  Bench(gdr::Device& device, const Shape& shape)
      : device_(device),
        gravity_(device),
        x_(device.rank() + 1 == device.ranks() ? 3 * shape.sources : 0),
        m_(x_.size() / 3, 1.0),
        y_(3 * part(shape.targets)),
        a_(y_.size()) {
    for (std::size_t k = 0; k < x_.size(); ++k) x_[k] = static_cast<double>(k * 7919 % 1000) / 1000;
    for (std::size_t k = 0; k < y_.size(); ++k) y_[k] = 2 + static_cast<double>(k % 97) / 97;
  }
  /// The device takes the sources as changed in each call, so that they are sent again.
  Times run(bool overlap) {
    ::setenv("GDR_MPI_OVERLAP", overlap ? "1" : "0", 1);
    const Times before = times_so_far(device_);
    gravity_.compute_on(y_.size() / 3, y_.data(), m_.size(), x_.data(), m_.data(), 0.01, a_.data(),
                        nullptr);
    const Times after = times_so_far(device_);
    return {after.seconds - before.seconds, after.way - before.way, after.waiting - before.waiting};
  }

 private:
  std::size_t part(std::size_t n) const {
    return n * (device_.rank() + 1) / device_.ranks() - n * device_.rank() / device_.ranks();
  }
  gdr::Device& device_;
  gdr::Gravity gravity_;
  std::vector<double> x_, m_, y_, a_;
};

double median(std::vector<Times>& runs, double Times::*member) {
  std::ranges::sort(runs, {}, member);
  return runs[runs.size() / 2].*member;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int turns = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
    gdr::Device device = gdr::Device::open(argc > 2 ? argv[2] : "mpi:engine=native,threads=1");
    const bool first = device.rank() == 0;
    if (first)
      std::printf("%s\n%-12s %9s  %9s %12s  %15s  %7s\n", device.description().c_str(), "sources",
                  "run [ms]", "way [ms]", "waiting [ms]", "no overlap [ms]", "hidden");
    for (const Shape& shape : shapes) {
      Bench bench(device, shape);
      bench.run(true);  // touches the memory once
      std::vector<Times> with, without;
      for (int turn = 0; turn < turns; ++turn) {
        with.push_back(bench.run(true));
        without.push_back(bench.run(false));
      }
      const double waiting = median(with, &Times::waiting);
      const double whole = median(without, &Times::waiting);
      if (first)
        std::printf("%-12s %9.2f  %9.3f %12.3f  %15.3f  %5.0f %%\n", shape.what,
                    1e3 * median(with, &Times::seconds), 1e3 * median(with, &Times::way),
                    1e3 * waiting, 1e3 * whole, whole > 0 ? 100 * (1 - waiting / whole) : 0);
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
