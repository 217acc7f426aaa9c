// Cut-offs beyond the periodic images of a box that parameters give.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "gdr/device.hpp"
#include "gdr/error.hpp"
#include "gdr/sets.hpp"

using namespace gdr;
using Catch::Matchers::Contains;

namespace {

using Parameters = std::vector<std::pair<std::string, std::vector<double>>>;

/// The message of a run of a kernel with declarations and statements, "" without an error.
std::string message_of(const std::string& text, const Parameters& parameters,
                       const char* engine = "native") {
  Device device = Device::open("emulator:engine=" + std::string(engine));
  Job job =
      device.job(Kernel::compile("kernel k; VARI vec3 x; VARJ vec3 xs; VARF n;\n" + text, "k.gdk"));
  for (const auto& [name, values] : parameters) job.set(name, values);
  const std::vector<double> x{0, 0, 0, 1, 1, 1};
  std::vector<double> n(2);
  job.sources(2, {{"xs", x}});
  job.targets(2, {{"x", x}});
  try {
    job.run({{"n", n}});
  } catch (const Error& e) {
    CHECK(e.category() == ErrorCategory::Input);
    return e.what();
  }
  return {};
}

const std::string cuboid_period =
    "CONST vec3 box; CONST rc2; d = minimum_image(x - xs, box); r2 = norm2(d);\n";

}  // namespace

TEST_CASE("a cut-off beyond the periodic images of a box that parameters give is an error") {
  const std::string law = cuboid_period + "skip if (r2 == 0 || r2 > rc2); n += r2;";
  for (const char* engine : {"native", "native-float", "vector", "reference"}) {
    INFO(engine);
    CHECK(message_of(law, {{"box", {10, 8, 12}}, {"rc2", {16}}}, engine).empty());
    CHECK_THAT(
        message_of(law, {{"box", {10, 8, 12}}, {"rc2", {16.1}}}, engine),
        Contains("kernel k: periodic images are complete up to a distance of 4, half of the "
                 "shortest edge (box_1 = 8), and the limit rc2 is 16.1, the square of 4.01") &&
            Contains("larger box"));
  }
  // Half of an edge may be rounded.
  CHECK(message_of(law, {{"box", {10, 0.3, 12}}, {"rc2", {0.15 * 0.15 * (1 + 1e-15)}}}).empty());
}

TEST_CASE("limits of periodic images are found by the structure of a kernel") {
  const Parameters far{{"b", {2.5}}, {"rc", {1.3}}}, near{{"b", {2.5}}, {"rc", {1.2}}};
  const std::string head = "CONST b, rc; d = minimum_image(x - xs, b);\n";
  for (const char* statement :
       {"if (norm(d) < rc) { n += 1; }", "if (norm2(d) < rc*rc) { n += 1; }",
        "if (rc^2 > norm2(d)) { n += 1; }", "if (d.x*d.x + d.y*d.y + d.z*d.z <= rc*rc) { n += 1; }",
        "n += abs(d.x) >= rc ? 0 : 1;", "long r2 = norm2(d); if (r2 < rc*rc) { n += 1; }",
        "e = x - xs; e.x -= b*round(e.x/b); if (abs(e.x) < rc) { n += 1; }"}) {
    INFO(statement);
    CHECK_THAT(message_of(head + statement, far), Contains("b = 2.5"));
    CHECK(message_of(head + statement, near).empty());
  }
  CHECK_THAT(message_of("CONST b, rc; d = minimum_image(x - xs, 2*b, 9, 9);\n"
                        "if (norm2(d) < 4*rc) { n += 1; }",
                        {{"b", {1}}, {"rc", {0.3}}}),
             Contains("(2*b = 2), and the limit 4*rc is 1.2"));
  CHECK_THAT(message_of("CONST b; d = minimum_image(x - xs, b);\nif (norm2(d) < 9) { n += 1; }",
                        {{"b", {5}}}),
             Contains("the limit 9 is 9"));
  CHECK_THAT(message_of("CONST rc; d = minimum_image(x - xs, 4, 1, 3, 1, 1, 5);\n"
                        "if (norm2(d) < rc*rc) { n += 1; }",
                        {{"rc", {1.6}}}),
             Contains("shortest edge (3 = 3)"));
}

TEST_CASE("kernels that do not compare periodic images with a parameter have no limit") {
  const Parameters values{{"b", {1}}, {"rc", {100}}};
  for (const char* text :
       {"CONST b, rc; n += rc*norm2(minimum_image(x - xs, b));",
        "CONST b, rc; d = minimum_image(x - xs, b); if (norm2(x - xs) < rc) { n += norm2(d); }",
        "CONST b, rc; d = minimum_image(x - xs, b); if (norm2(d) == rc) { n += 1; } n += rc;",
        "CONST b, rc; d = minimum_image(x - xs, b); if (norm2(d) < x.x + rc) { n += 1; }",
        "CONST b, rc; d = minimum_image(x - xs, b); if (norm2(d) < rc/b) { n += 1; }",
        "CONST b, rc; t = x.x - b*round(xs.x); if (t < rc) { n += 1; }",
        "CONST b, rc; d = minimum_image(x - xs, b); n += min(norm2(d), rc);"}) {
    INFO(text);
    CHECK(message_of(text, values).empty());
  }
  // Without a box there are no images.
  CHECK(message_of(cuboid_period + "if (r2 < rc2) { n += 1; }", {{"rc2", {4}}}).empty());
}

TEST_CASE("sets and kernels with other names check limits of periodic images") {
  const Kernel kernel = Kernel::compile("kernel k; VARI vec3 x; VARJ vec3 xs; VARF n;\n" +
                                            cuboid_period + "if (r2 < rc2) { n += 1; }",
                                        "k.gdk")
                            .with_host_names({{"n", "count"}});
  Device device = Device::open("emulator:engine=native");
  SetJob job(device, kernel);
  job.set("box", std::vector<double>{3, 4, 5});
  job.set("rc2", std::vector<double>{4});
  CHECK_THROWS_WITH(job.run({}), Contains("half of the shortest edge (box_0 = 3)"));
  job.set("rc2", std::vector<double>{2});
  job.run({});
}
