// Ranks that do not make the same calls: every rank prints the error thrown, as `R: CATEGORY
// MESSAGE`.
//
// usage: test_mpi_calls DEVICE close|exit
//   finally rank 1 closes its device, or exits, while the others make one more call
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "gdr/distributed.hpp"
#include "gdr/gdr.hpp"

namespace {

class Calls {
 public:
  explicit Calls(const char* name)
      : device_(gdr::Device::open(name)), gravity_(device_), rank_(device_.rank()) {
    for (std::size_t k = 0; k < position_.size(); ++k)
      position_[k] = static_cast<double>(k * 7 % 31) + rank_;
  }

  void differ() {
    gdr::Job first = device_.job(gdr::Kernel::builtin("gravity"));
    gdr::Job second = device_.job(gdr::Kernel::builtin("gravity"));
    report([&] { other() ? first.run({}) : first.set("eps2", 0.5); });
    report([&] { other() ? second.run({}) : first.run({}); });
    report([&] {
      if (other())
        device_.rank_reports();
      else
        forces();
    });
    report([&] { gdr::DistributedMatrices(device_, {.rows = other() ? 3U : 1U}); });
    gdr::DistributedMatrices grid(device_, {.block = 4});
    report([&] { grid.solve(other() ? 8 : 7, position_.data()); });
    report([&] {
      grid.multiply(2, 2, 2, other() ? 1.5 : 1, position_.data(), position_.data(), 0,
                    acceleration_.data());
    });
    // The next common call succeeds.
    report([&] { forces(); });
  }
  bool other() const { return rank_ == 1; }
  void forces() {
    gravity_.compute(10, position_.data(), mass_.data(), 0.1, acceleration_.data(), nullptr);
  }
  void report(const std::function<void()>& call) const {
    try {
      call();
      std::printf("%u: nothing\n", rank_);
    } catch (const gdr::Error& e) {
      std::printf("%u: %d %s\n", rank_, static_cast<int>(e.category()), e.what());
    }
    std::fflush(stdout);
  }

 private:
  gdr::Device device_;
  gdr::Gravity gravity_;
  unsigned rank_;
  std::vector<double> position_ = std::vector<double>(30), mass_ = std::vector<double>(10, 1),
                      acceleration_ = std::vector<double>(30);
};

}  // namespace

int main(int, char** argv) {
  Calls calls(argv[1]);
  calls.differ();
  if (!calls.other()) {
    calls.report([&] { calls.forces(); });
    // Every further call throws the same error.
    calls.report([&] { calls.forces(); });
  } else if (argv[2] == std::string_view("exit")) {
    std::exit(3);
  }
  return 0;
}
