// Jobs: any numbers of targets and sources, any layout, both partitions, compared with plain sums.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>

#include "gdr/error.hpp"
#include "kernels/builtin.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

using namespace library_test;
using gdr::test::contains;

namespace {

void check_sums(const std::string& device, std::size_t ni, std::size_t nj) {
  INFO(device << " ni " << ni << " nj " << nj);
  const SpringInput in = exact_input(ni, nj);
  CHECK(run_on(device, in) == spring_reference(in));
}

std::string error_of(const std::function<void()>& action, gdr::ErrorCategory category) {
  try {
    action();
  } catch (const gdr::Error& error) {
    CHECK(error.category() == category);
    return error.what();
  }
  FAIL("no error");
  return {};
}

}  // namespace

TEST_CASE("sums are exact for all sizes around the capacities of a machine, in both partitions") {
  for (const char* partition : {",partition=targets", ",partition=sources", ""})
    for (std::size_t ni : {1, 11, 12, 13, 47, 48, 49, 100})
      for (std::size_t nj : {0, 1, 2, 3, 4, 5, 63, 130}) check_sums(tiny + partition, ni, nj);
}

TEST_CASE("geometries with odd numbers give exact sums") {
  for (const char* partition : {",partition=targets", ",partition=sources"}) {
    check_sums("exact:threads=1,chips=1,blocks=1,pes=1" + std::string(partition), 9, 21);
    check_sums("exact:threads=1,chips=3,blocks=5,pes=7,bm=16" + std::string(partition), 431, 333);
    check_sums("exact:threads=1,chips=5,blocks=3,pes=2,boards=3" + std::string(partition), 250, 77);
    check_sums("exact:threads=1,boards=2" + std::string(partition), 300, 200);
  }
}

TEST_CASE("sources larger than the chips' memories are streamed in pieces") {
  // 4096 bytes hold 256 sources of two words.
  for (const char* partition : {",partition=targets", ",partition=sources"})
    for (std::size_t nj : {255, 256, 257, 511, 512, 513, 1025, 3000})
      check_sums(tiny + ",dram=4096" + partition, 50, nj);
}

TEST_CASE("native sums keep their digits where sources are larger than the chips' memories") {
  // 4096 bytes hold 128 sources of four words. Sums of pieces were rounded to shorts between them.
  constexpr std::size_t ni = 300, nj = 1000;
  const std::vector<double> x = exact_values(ni, 1), xj = exact_values(nj, 2);
  const auto forces = [&](const std::string& options) {
    gdr::Device device = gdr::Device::open("emulator:engine=native" + options);
    gdr::Job job = device.job(gdr::Kernel::builtin("gravity"));
    job.set("eps2", 1.0 / 3);
    job.sources(nj, {{"xj", xj.data()}, {"yj", xj.data()}, {"zj", xj.data()}, {"mj", xj.data()}});
    job.targets(ni, {{"xi", x.data()}, {"yi", x.data()}, {"zi", x.data()}});
    std::vector<double> ax(ni);
    job.run({{"ax", ax.data()}});
    CHECK(device.statistics().fallback_reason.empty());
    return ax;
  };
  const std::vector<double> expected = forces("");
  for (const char* options :
       {",dram=4096", ",dram=4096,partition=targets", ",dram=4096,boards=2"}) {
    const std::vector<double> got = forces(options);
    for (std::size_t i = 0; i < ni; ++i) CHECK(got[i] == Approx(expected[i]).margin(1e-12));
  }
}

TEST_CASE("no targets is no work, no sources gives the results of section Start") {
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Job job = device.job(spring());
  give(job, exact_input(0, 10));
  CHECK_NOTHROW(run(job));
  CHECK(device.statistics().runs == 0);
  give(job, exact_input(5, 0));
  CHECK(run(job).force == std::vector<double>(5, 0.0));
  gdr::Job untouched = device.job(spring());
  CHECK_NOTHROW(untouched.run({}));
}

TEST_CASE("structure members and float arrays are valid arrays") {
  struct Particle {
    float mass;
    double x;
    char tag;
    double force;
    float small_force;
  };
  std::vector<Particle> p(37);
  const std::vector<double> x = exact_values(p.size(), 4), m = exact_values(p.size(), 5);
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = {static_cast<float>(m[i]), x[i], 'a', 0, 0};
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Job job = device.job(spring());
  constexpr std::ptrdiff_t step = sizeof(Particle);
  job.set("k", 1);
  job.sources(p.size(), {{"mj", {&p[0].mass, step}}, {"xj", {&p[0].x, step}}});
  job.targets(p.size(), {{"xi", {&p[0].x, step}}});
  job.run({{"force", {&p[0].force, step}}});
  const SpringResult expected = spring_reference({x, x, m, 1});
  std::vector<double> backwards(p.size());
  job.run({{"force", {&backwards.back(), -static_cast<std::ptrdiff_t>(sizeof(double))}}});
  std::vector<float> narrow(p.size());
  job.run({{"force", narrow.data()}});
  for (std::size_t i = 0; i < p.size(); ++i) {
    CHECK(p[i].force == expected.force[i]);
    CHECK(p[i].tag == 'a');
    CHECK(backwards[p.size() - 1 - i] == expected.force[i]);
    CHECK(narrow[i] == static_cast<float>(expected.force[i]));
  }
}

TEST_CASE("float and integer variables and padded groups are supported") {
  const gdr::Kernel kernel = gdr::Kernel::assemble(typed_text, "typed.gds");
  for (const char* partition : {",partition=targets", ",partition=sources"})
    for (std::size_t nj : {1, 2, 5, 8, 33}) {
      gdr::Device device = gdr::Device::open(tiny + partition);
      gdr::Job job = device.job(kernel);
      const SpringInput in = exact_input(29, nj);
      const std::vector<float> xi(in.xi.begin(), in.xi.end()), xj(in.xj.begin(), in.xj.end());
      std::vector<std::int64_t> idi(29, 0), idj(nj), idsum(29);
      for (std::size_t j = 0; j < nj; ++j)
        idj[j] = (std::int64_t{1} << 40) * static_cast<std::int64_t>(j) - 5;
      job.sources(nj, {{"xj", xj.data()}, {"mj", in.mj}, {"idj", idj.data()}});
      job.targets(29, {{"xi", xi.data()}, {"idi", idi.data()}});
      std::vector<double> force(29);
      job.run({{"force", force}, {"idsum", idsum.data()}});
      const SpringResult expected = spring_reference({in.xi, in.xj, in.mj, 1});
      const auto n = static_cast<std::int64_t>(nj);
      for (std::size_t i = 0; i < 29; ++i) {
        CHECK(force[i] == expected.force[i]);
        CHECK(idsum[i] == (std::int64_t{1} << 40) * (n * (n - 1) / 2) - 5 * n);
      }
    }
}

namespace {

/// A job with 103 sources that are on the board.
struct Resident {
  explicit Resident(const std::string& partition)
      : device(gdr::Device::open(tiny + ",partition=" + partition)), job(device.job(spring())) {
    give(job, in);
    CHECK(run(job) == spring_reference(in));
    CHECK(bytes() == bytes());
  }
  /// Bytes that the next run sends to the board. Its results are checked.
  std::uint64_t bytes() {
    device.reset_statistics();
    CHECK(run(job) == spring_reference(in));
    return device.statistics().bytes_to_board;
  }

  SpringInput in = exact_input(20, 103);
  gdr::Device device;
  gdr::Job job;
};

}  // namespace

TEST_CASE("updated sources take effect, and only they are sent") {
  for (const char* partition : {"targets", "sources"}) {
    Resident r(partition);
    gdr::Job& job = r.job;
    SpringInput& in = r.in;
    const std::uint64_t resident = r.bytes();
    for (const auto& [first, n] :
         {std::pair<std::size_t, std::size_t>{0, 1}, {100, 3}, {17, 61}, {50, 0}}) {
      const std::vector<double> fresh = exact_values(n, static_cast<unsigned>(first + 9));
      std::copy(fresh.begin(), fresh.end(), in.mj.begin() + static_cast<std::ptrdiff_t>(first));
      job.update_sources(first, n, {{"mj", fresh}});
      CHECK(r.bytes() == resident + n * 16);
    }
    CHECK(contains(error_of(
                       [&] {
                         job.update_sources(100, 4, {{"mj", in.mj}});
                       },
                       gdr::ErrorCategory::Usage),
                   "103"));
    CHECK(run(job) == spring_reference(in));
  }
}

TEST_CASE("sources with given indices are updated, and only they are sent") {
  for (const char* partition : {"targets", "sources"}) {
    Resident r(partition);
    gdr::Job& job = r.job;
    SpringInput& in = r.in;
    const std::uint64_t resident = r.bytes();
    // Unsorted, adjacent and far apart; one twice, whose last value counts.
    const std::vector<std::int32_t> places{90, 3, 4, 50, 102, 0, 50};
    const std::vector<double> fresh = exact_values(places.size(), 5);
    for (std::size_t k = 0; k < places.size(); ++k)
      in.mj[static_cast<std::size_t>(places[k])] = fresh[k];
    job.update_sources(places, {{"mj", fresh}});
    // With those between near ones: 0 to 4, 50, and 90 to 102.
    CHECK(r.bytes() == resident + 19 * 16);
    for (const std::int32_t wrong : {-1, 103}) {
      const std::vector<std::int32_t> outside{5, wrong};
      const std::string message = error_of(
          [&] {
            job.update_sources(outside, {{"mj", fresh}});
          },
          gdr::ErrorCategory::Usage);
      CHECK(contains(message, "places[1] is " + std::to_string(wrong)));
    }
    job.update_sources(std::span<const std::int32_t>{}, {{"mj", fresh}});
    CHECK(run(job) == spring_reference(in));
  }
}

TEST_CASE("many updates between runs take effect") {
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Job job = device.job(spring());
  SpringInput in = exact_input(5, 40);
  give(job, in);
  CHECK(run(job) == spring_reference(in));
  for (unsigned k = 0; k < 1000; ++k) {
    in.xj[k % 40] = exact_values(1, k)[0];
    job.update_sources(k % 40, 1, {{"xj", &in.xj[k % 40]}});
  }
  CHECK(run(job) == spring_reference(in));
}

TEST_CASE("every run of a job fills the arrays that are given to it") {
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  gdr::Job job =
      device.job(gdr::Kernel::compile("kernel two; VARI x; VARJ m; VARF a, b;\na += m*x; b += m;"));
  const double x[] = {1, 2}, m[] = {3, 4};
  job.sources(2, {{"m", m}});
  job.targets(2, {{"x", x}});
  double a[2] = {}, b[2] = {}, other[2] = {};
  float narrow[2] = {};
  job.run({{"a", a}, {"b", b}});
  CHECK((a[0] == 7 && a[1] == 14 && b[0] == 7 && b[1] == 7));
  job.run({{"a", other}, {"b", b}});
  CHECK((other[0] == 7 && other[1] == 14));
  job.run({{"a", narrow}, {"b", a}});
  CHECK((narrow[1] == 14 && a[0] == 7 && a[1] == 7));
  job.run({{"b", other}, {"a", a}});
  CHECK((other[0] == 7 && other[1] == 7 && a[1] == 14));
  job.run({{"a", b}});
  CHECK((b[0] == 7 && b[1] == 14));
  double* const nothing = nullptr;
  CHECK_THROWS_WITH(job.run({{"a", nothing}}), Catch::Contains("\"a\" is a null pointer"));
  CHECK_THROWS_WITH(job.run({{"a", a}, {"a", b}}), Catch::Contains("given twice"));
}

TEST_CASE("section Start may store words of PEs without targets to the broadcast memory") {
  const auto hermite =
      std::ranges::find(gdr::builtin_kernels(), "gravity_hermite", &gdr::BuiltinKernel::name);
  std::string text(hermite->source);
  const auto replace = [&](const std::string& old, const std::string& with) {
    const std::size_t at = text.find(old);
    REQUIRE(at != std::string::npos);
    text.replace(at, old.size(), with);
  };
  replace("ipass $t 0x000000000000000000", "ipass $t 0x400800000000000000");
  replace("bput word0 $t 0", "bput word0 $t 20");
  const gdr::Kernel kernel = gdr::Kernel::assemble(text, "stores.gds");
  const std::vector<double>
      at = {0.5, -1, 2, 0.25, -0.75},
      zero(5, 0), one(5, 1), e2(5, 0.01),
      place = {0.1, 0.7};  // not those of the sources, as excluded pairs take the stored word
  const std::vector<std::int64_t> id = {0, 1, 2, 3, 4};
  const auto forces = [&](const char* engine) {
    std::vector<double> ax(2);
    gdr::Device device = gdr::Device::open(std::string("emulator:threads=1,engine=") + engine);
    gdr::Job job = device.job(kernel);
    job.sources(5, {{"xj", at.data()},
                    {"yj", zero.data()},
                    {"zj", at.data()},
                    {"vxj", one.data()},
                    {"vyj", zero.data()},
                    {"vzj", at.data()},
                    {"mj", one.data()},
                    {"idj", id.data()}});
    job.targets(2, {{"xi", place.data()},
                    {"yi", zero.data()},
                    {"zi", place.data()},
                    {"vxi", one.data()},
                    {"vyi", zero.data()},
                    {"vzi", at.data()},
                    {"e2i", e2.data()},
                    {"idi", id.data()}});
    job.run({{"ax", ax.data()}});
    return ax;
  };
  const std::vector<double> exact = forces("vector");
  // A thread whose blocks have had no more targets than these.
  std::vector<double> fast;
  std::thread([&] { fast = forces("native"); }).join();
  for (std::size_t i = 0; i < 2; ++i) CHECK(std::abs(fast[i] / exact[i] - 1) < 1e-12);
}

TEST_CASE("jobs on one device have data of their own") {
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Job a = device.job(spring()), b = device.job(spring());
  gdr::Job c = device.job(gdr::Kernel::assemble(spring_text));
  const SpringInput in_a = exact_input(10, 20);
  SpringInput in_b = exact_input(30, 40);
  in_b.k = 2;
  give(a, in_a);
  give(b, in_b);
  give(c, in_a);
  for (int round = 0; round < 2; ++round) {
    CHECK(run(a) == spring_reference(in_a));
    CHECK(run(b) == spring_reference(in_b));
    CHECK(run(c) == spring_reference(in_a));
  }
}

TEST_CASE("errors name wrong variables, types, pointers and numbers, and preserve the job's data") {
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Job job = device.job(spring());
  const SpringInput in = exact_input(4, 6);
  give(job, in);
  using gdr::ErrorCategory;
  const std::vector<std::int64_t> whole(6);
  const std::vector<double> v(6, 1.0);
  std::vector<double> out(6);
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const auto inf = std::numeric_limits<float>::infinity();
  CHECK(contains(error_of([&] { job.set("kk", 1); }, ErrorCategory::Usage), "did you mean \"k\"?"));
  CHECK(contains(error_of([&] { job.set("k", nan); }, ErrorCategory::Input), "\"k\""));
  CHECK(contains(error_of([&] { job.sources(6, {{"xj", v}}); }, ErrorCategory::Usage), "\"mj\""));
  CHECK(contains(error_of([&] { job.sources(6, {}); }, ErrorCategory::Usage), "\"xj\", \"mj\""));
  CHECK(contains(error_of(
                     [&] {
                       job.sources(6, {{"xj", v}, {"mj", v}, {"xj", v}});
                     },
                     ErrorCategory::Usage),
                 "\"xj\" is given twice"));
  CHECK(contains(error_of(
                     [&] {
                       job.sources(6, {{"xj", v}, {"mk", v}});
                     },
                     ErrorCategory::Usage),
                 "did you mean \"mj\"?"));
  CHECK(contains(error_of(
                     [&] {
                       job.sources(6, {{"xj", whole.data()}, {"mj", v}});
                     },
                     ErrorCategory::Usage),
                 "int64"));
  CHECK(contains(error_of(
                     [&] {
                       job.sources(6, {{"xj", v}, {"mj", gdr::ConstArray{}}});
                     },
                     ErrorCategory::Usage),
                 "null"));
  std::vector<double> bad = v;
  bad[4] = nan;
  CHECK(contains(error_of(
                     [&] {
                       job.sources(6, {{"xj", v}, {"mj", bad}});
                     },
                     ErrorCategory::Input),
                 "\"mj\"[4] is not a number"));
  std::vector<float> floats(6, 1.0F);
  floats[2] = -inf;
  CHECK(contains(error_of(
                     [&] {
                       job.targets(6, {{"xi", floats.data()}});
                     },
                     ErrorCategory::Input),
                 "\"xi\"[2] is infinite"));
  CHECK(contains(error_of(
                     [&] {
                       job.run({{"farce", out}});
                     },
                     ErrorCategory::Usage),
                 "did you mean \"force\"?"));
  CHECK(contains(error_of(
                     [&] {
                       job.run({{"force", gdr::MutableArray{}}});
                     },
                     ErrorCategory::Usage),
                 "null"));
  CHECK(contains(error_of(
                     [&] {
                       job.sources(~std::size_t{0}, {{"xj", v}, {"mj", v}});
                     },
                     ErrorCategory::Usage),
                 "is -1; it must not be negative"));
  CHECK(contains(error_of(
                     [&] {
                       job.sources(~std::size_t{0} >> 1, {{"xj", v}, {"mj", v}});
                     },
                     ErrorCategory::Usage),
                 "memory"));
  CHECK(run(job) == spring_reference(in));
}

TEST_CASE("a kernel that does not fit the machine is an error") {
  gdr::Device device = gdr::Device::open("exact:threads=1,registers=8");
  gdr::Job job = device.job(spring());
  const SpringInput in = exact_input(4, 6);
  give(job, in);
  error_of([&] { run(job); }, gdr::ErrorCategory::Program);
  error_of([&] { run(job); }, gdr::ErrorCategory::Program);
}

TEST_CASE("an integer that exceeds the bits of its variable is an error") {
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Job job = device.job(gdr::Kernel::compile(
      "CONST int c; VARI int id; VARJ int jd; VARF int f; f += (id < jd ? 1 : 0) + c;"));
  constexpr std::int64_t most = (std::int64_t{1} << 35) - 1, least = -most - 1;
  const std::vector<std::int64_t> edges = {most, 0, 1}, negative = {least, -1}, good(600, 1);
  job.set("c", 0);
  job.targets(edges.size(), {{"id", edges.data()}});
  job.sources(edges.size(), {{"jd", edges.data()}});
  std::vector<std::int64_t> f(edges.size());
  job.run({{"f", f.data()}});
  CHECK(f == std::vector<std::int64_t>{0, 2, 1});
  job.targets(negative.size(), {{"id", negative.data()}});
  job.sources(negative.size(), {{"jd", negative.data()}});
  job.run({{"f", f.data()}});
  CHECK(f == std::vector<std::int64_t>{1, 0, 1});

  for (const std::int64_t wrong : {most + 1, least - 1}) {
    std::vector<std::int64_t> ids = good;
    ids[531] = wrong;
    const auto refused = [&](const std::string& name, const auto& give) {
      CHECK(contains(
          error_of(give, gdr::ErrorCategory::Input),
          name + "\"[531] is " + std::to_string(wrong) + ", but its variable has 36 bits"));
    };
    refused("id", [&] { job.targets(ids.size(), {{"id", ids.data()}}); });
    refused("jd", [&] { job.sources(ids.size(), {{"jd", ids.data()}}); });
    CHECK(contains(
        error_of([&] { job.set("c", static_cast<double>(wrong)); }, gdr::ErrorCategory::Input),
        "\"c\" has 36 bits"));
  }
}
