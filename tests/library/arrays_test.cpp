// Arrays, vectors and tensors of a kernel as single arrays of the host.
#include <array>
#include <cmath>
#include <vector>

#include "gdr/device.hpp"
#include "gdr/error.hpp"
#include "gdr/kernel.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

constexpr const char* text =
    "kernel moments; CONST vec3 b; CONST table t[2]; VARI vec3 x; VARJ vec3 xs; VARJ m;\n"
    "VARJ int id; VARF vec3 f; VARF sym3 q; VARF n[2]; VARF list near[2];\n"
    "d = xs - x; f += t[id]*m*(d + b); q += m*outer(d); for k = 0 .. 1 { n[k] += (k + 1)*m; }\n"
    "if (id > 0) { near append= id; }";

const Kernel& kernel() {
  static const Kernel compiled = Kernel::compile(text);
  return compiled;
}

/// The message of the error of this category that a call must throw.
template <typename Call>
std::string refusal(ErrorCategory category, const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    CHECK(e.category() == category);
    return e.what();
  }
  return {};
}

struct Inputs {
  std::vector<double> x, xs, m;
  std::vector<std::int64_t> id;
};

Inputs inputs(std::size_t targets, std::size_t sources) {
  Inputs in;
  for (std::size_t k = 0; k < 3 * targets; ++k) in.x.push_back(static_cast<double>(k % 7));
  for (std::size_t k = 0; k < 3 * sources; ++k) in.xs.push_back(static_cast<double>(k % 11) - 5);
  for (std::size_t k = 0; k < sources; ++k) in.m.push_back(static_cast<double>(k % 3 + 1));
  for (std::size_t k = 0; k < sources; ++k) in.id.push_back(static_cast<std::int64_t>(k % 2));
  return in;
}

}  // namespace

TEST_CASE("a kernel describes its arrays") {
  REQUIRE(kernel().arrays().size() == 8);
  const KernelArray& x = kernel().arrays()[2];
  CHECK(x.name == "x");
  CHECK(x.sizes == std::vector<std::size_t>{3});
  CHECK(kernel().variables()[x.first].name == "x_0");
  CHECK(kernel().arrays()[5].count == 6);
}

TEST_CASE("vectors are passed as arrays of three, or by component") {
  const std::size_t n = 13, sources = 9;
  const Inputs in = inputs(n, sources);
  Device device = Device::open("exact:chips=1,blocks=2,pes=4");
  Job job = device.job(kernel());
  job.set("b", {1, 2, -1});
  job.set("t", {2, 3});
  job.sources(sources, {{"xs", in.xs}, {"m", in.m}, {"id", in.id.data()}});
  job.targets(n, {{"x", in.x}});
  std::vector<double> f(3 * n), q(6 * n), moments(2 * n), y(n);
  std::vector<std::int64_t> count(n), near(2 * n);
  job.run({{"f", f},
           {"q", q},
           {"n", moments},
           {"f_1", y},
           {"near", count.data()},
           {"near[]", near.data()}});
  const std::array<double, 3> b{1, 2, -1};
  for (std::size_t i = 0; i < n; ++i) {
    std::array<double, 3> sum{};
    double xz = 0, mass = 0;
    for (std::size_t j = 0; j < sources; ++j) {
      const double m = in.m[j], t = in.id[j] == 0 ? 2 : 3;
      for (std::size_t k = 0; k < 3; ++k)
        sum[k] += t * m * (in.xs[3 * j + k] - in.x[3 * i + k] + b[k]);
      xz += m * (in.xs[3 * j] - in.x[3 * i]) * (in.xs[3 * j + 2] - in.x[3 * i + 2]);
      mass += m;
    }
    for (std::size_t k = 0; k < 3; ++k) CHECK(f[3 * i + k] == sum[k]);
    CHECK(y[i] == sum[1]);
    CHECK(q[6 * i + 2] == xz);
    CHECK(moments[2 * i + 1] == 2 * mass);
    CHECK(count[i] == 4);
    CHECK(near[2 * i] == 1);
  }

  // The same by components, with strides.
  constexpr std::ptrdiff_t step = 3 * sizeof(double);
  std::vector<double> again(3 * n);
  job.targets(n, {{"x_2", {&in.x[2], step}}, {"x_0", {&in.x[0], step}}, {"x_1", {&in.x[1], step}}});
  job.run({{"f", again}});
  CHECK(again == f);

  // A single vector of a source, of floats.
  const std::vector<float> moved{1, 2, 3};
  job.update_sources(4, 1, {{"xs", moved.data()}});
  job.run({{"f", again}});
  CHECK(again[0] == f[0] + 2 * in.m[4] * (1 - in.xs[12]));
}

TEST_CASE("errors of arrays name the array and the element") {
  Device device = Device::open("exact:chips=1,blocks=2,pes=4");
  Job job = device.job(kernel());
  Inputs in = inputs(4, 4);
  const auto usage = [&](const std::vector<NamedInput>& arrays) {
    return refusal(ErrorCategory::Usage, [&] { job.targets(4, arrays); });
  };
  CHECK(usage({{"x", in.x}, {"x_1", in.x}}).find("\"x_1\" is given twice") != std::string::npos);
  CHECK(usage({{"x_0", in.x}}).find("\"x_1\", \"x_2\"") != std::string::npos);
  CHECK(usage({{"y", in.x}}).find("known: x, x_0") != std::string::npos);
  CHECK(usage({{"x_0[]", in.x}}).find("without []") != std::string::npos);
  CHECK(refusal(ErrorCategory::Usage, [&] { job.set("b", 1); }).find("takes 3 values, not 1") !=
        std::string::npos);
  in.x[7] = NAN;
  CHECK(refusal(ErrorCategory::Input, [&] {
          job.targets(4, {{"x", in.x}});
        }).find("\"x\"[2, 1] is not a number") != std::string::npos);
}

TEST_CASE("host names are kept in object files") {
  const Kernel named = kernel().with_host_names({{"x", "position"}, {"m", "mass"}});
  const Kernel read = Kernel::from_object(named.object().data(), named.object().size());
  CHECK(read.host_names() == named.host_names());
  CHECK(read.host_names().size() == 2);
  CHECK(read.object() == named.object());
  CHECK(kernel().host_names().empty());
  CHECK(refusal(ErrorCategory::Program, [] {
          kernel().with_host_names({{"y", "z"}});
        }).find("'y', which is unknown") != std::string::npos);
}

}  // namespace gdr::test
