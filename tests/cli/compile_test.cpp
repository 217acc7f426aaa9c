// `gdr compile`: the cache of compiled kernels.
#include <string>

#include "cli/shell.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace gdr::test {
namespace {

const std::string law =
    "kernel law; CONST eps2; VARI x, y, z; VARJ xj, yj, zj, m; VARF ax, ay, az, pot;\n"
    "dx = xj - x; dy = yj - y; dz = zj - z;\n"
    "ri = rsqrt(dx*dx + dy*dy + dz*dz + eps2);\n"
    "mr = m*ri; f = mr*ri*ri; ax += f*dx; ay += f*dy; az += f*dz; pot -= mr;\n";

TEST_CASE("gdr compile takes an object from the cache unless it is told not to") {
  const Shell shell;
  shell.write("law.gdk", law);
  const std::string compile = "GDR_CACHE_DIR=cache gdr compile law.gdk --effort 0 ";
  const Outcome first = shell.run(compile + "-o first.gdo");
  INFO(first.err);
  CHECK(first.status == 0);
  CHECK(!contains(first.out, "from the cache"));
  const Outcome second = shell.run(compile + "-o second.gdo");
  CHECK(contains(second.out, "from the cache"));
  CHECK(second.err == first.err);
  const Outcome third = shell.run(compile + "-o third.gdo --no-cache");
  CHECK(!contains(third.out, "from the cache"));
  CHECK(shell.read("first.gdo") == shell.read("second.gdo"));
  CHECK(shell.read("first.gdo") == shell.read("third.gdo"));
}

}  // namespace
}  // namespace gdr::test
