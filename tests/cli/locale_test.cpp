// A program that chooses a locale with a decimal comma, as graphical ones do, reads the same
// numbers.
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "emulator/host/parse_number.hpp"
#include "gdr/device.hpp"
#include "libgdr/cli/debug/locations.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/io/snapshot.hpp"
#include "libgdr/nbody/run.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

/// Chooses a German locale, made by localedef or installed, until the end of the test.
class DecimalComma {
 public:
  DecimalComma() {
    const std::string path = folder_.file("de_DE.UTF-8");
    const std::string make = "localedef -i de_DE -f UTF-8 " + path + " >/dev/null 2>&1";
    if (std::system(make.c_str()) == 0) setenv("LOCPATH", folder_.path().c_str(), 1);
    chosen_ = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr &&
              std::string(std::localeconv()->decimal_point) == ",";
    if (!chosen_) WARN("no locale has a decimal comma: numbers are not tested (install locales)");
  }
  ~DecimalComma() {
    std::setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
  }
  DecimalComma(const DecimalComma&) = delete;
  DecimalComma& operator=(const DecimalComma&) = delete;
  bool chosen() const { return chosen_; }

 private:
  TemporaryFolder folder_;
  bool chosen_ = false;
};

/// The sum of 0.5 x over sources 1.25 and 2.5, by a kernel with such numbers in its text.
double half_sum() {
  Device device = Device::open("exact:chips=1,blocks=1");
  Job job = device.job(Kernel::compile("VARJ x; VARF f; f += 0.5*x + 1.5e-3;"));
  const double sources[] = {1.25, 2.5};
  double f = 0;
  job.sources(2, {{"x", sources}});
  job.targets(1, {});
  job.run({{"f", &f}});
  return f;
}

TEST_CASE("numbers do not depend on the locale of the program") {
  const double expected = half_sum();
  const DecimalComma comma;
  if (!comma.chosen()) return;
  REQUIRE(std::strtod("0.5", nullptr) == 0);  // what the library must not use
  CHECK(parse_all<double>("0.5") == 0.5);
  CHECK_FALSE(parse_all<double>("0,5"));
  std::string_view text = "2.5 s";
  CHECK(take_number<double>(text) == 2.5);
  CHECK(text == " s");
  CHECK(parse_all<long double>("1.5") == 1.5L);
  CHECK(parse_device_name("board:queue_timeout=0.5", {}).options.queue_timeout == 0.5);
  const MachineWord short_word{.is_long = false};
  const auto three_halves = cli::parse_value("1.5", short_word, {});
  CHECK(cli::number_of(three_halves, short_word, {}) == 1.5L);
  CHECK(parse_interval("--snapshot-every", "0.25").value == 0.25);
  CHECK(parse_text_snapshot("1.5 2.5 0 0 0 0 1e-400", "f.txt").position[0] == 2.5);
  CHECK(half_sum() == expected);
}

TEST_CASE("decimal numbers out of range become infinities and zeros of their sign") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const char* const text : {"1e309", "1e5000", "0.001e400", "1e99999999999999999999"})
    CHECK(parse_decimal(text) == infinity);
  CHECK(parse_decimal("-1E+400") == -infinity);
  CHECK(parse_decimal("1" + std::string(400, '0')) == infinity);
  for (const char* const text : {"1e-400", "1000e-400", "1e-99999999999999999999"})
    CHECK(parse_decimal(text) == 0);
  CHECK(parse_decimal("0." + std::string(400, '0') + "1") == 0);
  CHECK(std::signbit(parse_decimal("-1e-400").value_or(1)));
  CHECK(parse_decimal("0") == 0);
  for (const char* const text : {"", "1e", "x", "1 ", " 1", "0x1"})
    CHECK_FALSE(parse_decimal(text));
}

TEST_CASE("hexadecimal numbers out of range become infinities and zeros of their sign") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(parse_hexadecimal("1.8p-3") == 0x1.8p-3);
  CHECK(parse_hexadecimal("Ffp+2") == 1020);
  CHECK(parse_hexadecimal("ff") == 255);
  CHECK(parse_hexadecimal("1p1024") == infinity);
  // 16^300 / 2, and its reciprocal times 2.
  CHECK(parse_hexadecimal("1" + std::string(300, '0') + "p-1") == infinity);
  CHECK(parse_hexadecimal("0." + std::string(299, '0') + "1p1") == 0);
  CHECK(parse_hexadecimal("1p-1080") == 0);
  CHECK(std::signbit(parse_hexadecimal("-1p-1080").value_or(1)));
  for (const char* const text : {"", "1p", "x", "1 ", "0x1", "1.8p-3f"})
    CHECK_FALSE(parse_hexadecimal(text));
}

}  // namespace
}  // namespace gdr::test
