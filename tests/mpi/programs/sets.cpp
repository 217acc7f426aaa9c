// Sets on many ranks: compares a SetJob with a Job for each set, and reports errors, as `R: TEXT`.
//
// usage: test_mpi_sets DEVICE
#include <cstdio>
#include <functional>
#include <limits>
#include <vector>

#include "gdr/gdr.hpp"

namespace {

constexpr const char* text = R"(
.kernel sums
ivar  long xi f64to72
jvar  long xj f64to72
fvar  long sum f64to72 fadd at $lr24v
.start
    upass sum 0
.body
    vlen 1
    bget $lr0 xj
    vlen 4
    fsub $lr8v $lr0 xi
    fadd sum sum $lr8v
)";

using Inputs = std::vector<gdr::NamedInput>;
using Results = std::vector<gdr::NamedResult>;

class Sets {
 public:
  explicit Sets(const char* name)
      : device_(gdr::Device::open(name)),
        kernel_(gdr::Kernel::assemble(text)),
        sets_(device_, kernel_),
        job_(device_.job(kernel_)),
        rank_(device_.rank()) {
    for (std::size_t k = 0; k < x_.size(); ++k)
      x_[k] = 0.37 * static_cast<double>(k) + 11 * static_cast<double>(rank_);
  }

  /// Three sets: the second has two segments, and no targets on rank 0; the third no sources.
  void compare() {
    const std::size_t some = rank_ == 0 ? 0 : 77;
    const std::vector<gdr::SourceSegment> one = {{300, from_}}, two = {{50, from_}, {100, tail_}};
    const Results r0 = {{"sum", &sums_[0]}}, r1 = {{"sum", &sums_[100]}},
                  r2 = {{"sum", &sums_[200]}};
    const std::vector<gdr::InteractionSet> all = {
        {100, to_, one, r0}, {some, to_, two, r1}, {60, to_, {}, r2}};
    for (const bool start : {false, true}) {
      sums_.assign(sums_.size(), -1);
      std::vector<double> expected(sums_.size(), -1), joined(x_.begin(), x_.begin() + 50);
      joined.insert(joined.end(), x_.begin() + 200, x_.begin() + 300);
      by_job(100, 300, x_, &expected[0]);
      by_job(some, 150, joined, &expected[100]);
      by_job(60, 0, x_, &expected[200]);
      if (start) {
        sets_.start(all);
        sets_.wait();
      } else {
        sets_.run(all);
      }
      std::printf("%u: %s\n", rank_, sums_ == expected ? "same" : "different");
    }
  }

  void fail() {
    std::vector<double> bad = x_;
    if (rank_ == 1) bad[5] = std::numeric_limits<double>::quiet_NaN();
    const Inputs arrays = {{"xj", bad}};
    const Results results = {{"sum", sums_}};
    const std::vector<gdr::SourceSegment> one = {{300, arrays}}, good = {{300, from_}};
    report([&] { sets_.run({{100, to_, one, results}}); });
    const std::vector<gdr::InteractionSet> more(1 + rank_, {100, to_, good, results});
    report([&] { sets_.run(more); });
  }

 private:
  void by_job(std::size_t targets, std::size_t sources, const std::vector<double>& from,
              double* sums) {
    job_.sources(sources, {{"xj", from}});
    job_.targets(targets, to_);
    job_.run({{"sum", sums}});
  }
  void report(const std::function<void()>& call) const {
    try {
      call();
      std::printf("%u: no error\n", rank_);
    } catch (const gdr::Error& error) {
      std::printf("%u: %s\n", rank_, error.what());
    }
  }

  gdr::Device device_;
  gdr::Kernel kernel_;
  gdr::SetJob sets_;
  gdr::Job job_;
  const unsigned rank_;
  std::vector<double> x_ = std::vector<double>(400), sums_ = std::vector<double>(300);
  const Inputs to_ = {{"xi", &x_[0]}}, from_ = {{"xj", &x_[0]}}, tail_ = {{"xj", &x_[200]}};
};

}  // namespace

int main(int, char** argv) {
  Sets sets(argv[1]);
  sets.compare();
  sets.fail();
  sets.compare();
  return 0;
}
