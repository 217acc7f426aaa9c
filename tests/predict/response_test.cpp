// Response functions: closed forms against values of the literature, and recovery times.
#include "libgdr/predict/response.hpp"

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "support/catch.hpp"

using namespace gdr::predict;

namespace {

Stream with(Congestion control, double rtt = 0.1) {
  Stream stream;
  stream.control = control;
  stream.rtt = rtt;
  stream.reference = 0.1;
  return stream;
}

double window(Congestion control, double loss, double rtt = 0.1) {
  return *response_window(with(control, rtt), loss);
}

}  // namespace

TEST_CASE("closed forms of response functions have the values of the RFCs' tables") {
  // RFC 3649, table 1 and 2: windows of Reno and HighSpeed TCP.
  CHECK(window(Congestion::Reno, 1e-4) == Approx(120).epsilon(0.03));
  CHECK(window(Congestion::Reno, 1e-6) == Approx(1200).epsilon(0.03));
  CHECK(window(Congestion::HighSpeed, 1e-4) == Approx(263).epsilon(0.01));
  CHECK(window(Congestion::HighSpeed, 1e-5) == Approx(1795).epsilon(0.01));
  CHECK(window(Congestion::HighSpeed, 1e-7) == Approx(83981).epsilon(0.01));
  CHECK(window(Congestion::Scalable, 1e-4) == Approx(800));
  // RFC 8312, tables 1 and 2: CUBIC for 100 and 10 ms.
  CHECK(window(Congestion::Cubic, 1e-4) == Approx(187).epsilon(0.01));
  CHECK(window(Congestion::Cubic, 1e-6) == Approx(5928).epsilon(0.02));
  CHECK(window(Congestion::Cubic, 1e-4, 0.01) == Approx(120).epsilon(0.03));
  CHECK(window(Congestion::Cubic, 1e-8, 0.01) == Approx(33325).epsilon(0.02));
  CHECK_FALSE(response_window(with(Congestion::Westwood), 1e-4));
}

TEST_CASE("the constants of HighSpeed TCP are those of the RFC's table") {
  // RFC 3649, appendix B: window, increase, decrease.
  const double rows[][3] = {{38, 1, 0.50},     {118, 2, 0.44},    {1058, 8, 0.33},
                            {10661, 30, 0.21}, {50029, 57, 0.13}, {83981, 70, 0.10}};
  for (const auto& [w, a, b] : rows) {
    INFO(w);
    CHECK(law::highspeed_decrease(w) == Approx(b).margin(0.006));
    CHECK(law::highspeed_increase(w) == Approx(a).epsilon(0.12));
  }
}

TEST_CASE("H-TCP and BIC approach closed forms that are known in limits") {
  // Within a second of a loss H-TCP is a sawtooth with increase 0.4 and decrease 0.2.
  CHECK(window(Congestion::HTcp, 1e-3, 0.001) == Approx(std::sqrt(1.8 / 1e-3)).epsilon(0.01));
  // BIC with large windows adds 32 segments and takes an eighth: Xu and others, section on
  // response functions.
  const double loss = 1e-10;
  CHECK(window(Congestion::Bic, loss) ==
        Approx(std::sqrt(32 * 1.875 / (2 * 0.125) / loss)).epsilon(0.03));
  CHECK(window(Congestion::Bic, 0.02) == Approx(window(Congestion::Reno, 0.02)).epsilon(0.02));
}

TEST_CASE("recovery round by round agrees with the closed forms of Reno and Scalable") {
  const double rate = 12.5e6;
  CHECK(*response_recovery(with(Congestion::Reno), rate) ==
        Approx(recovery_time(rate, 0.1, 1460, false)).epsilon(0.01));
  CHECK(*response_recovery(with(Congestion::Scalable), rate) == Approx(1.34).margin(0.1));
  CHECK_FALSE(response_recovery(with(Congestion::Fast), rate));
}

TEST_CASE("CUBIC has its mean window with periodic losses, also after a slow start beyond it") {
  Stream stream = with(Congestion::Cubic, 0.15);
  Path path;
  path.rate = 1.5e6;
  path.queue_packets = 133;
  path.loss = 1.0 / 1500;
  path.periodic_loss = true;
  const double rate = *response_window(stream, path.loss) * mss_of(stream.mtu) / stream.rtt;
  CHECK(simulate_streams(path, {stream}, 500, 50).throughput == Approx(rate).epsilon(0.1));
}

TEST_CASE("the table of response functions has every law, round trip and loss rate") {
  const auto points = response_functions(1e-3);
  CHECK(points.size() == (congestion_laws().size() - 1) * 3);
  const std::string csv = response_csv(points);
  CHECK(csv.find("\ncubic,0.12,0.001,") != std::string::npos);
  CHECK(csv.find("\nwestwood,0.006,0.001,") != std::string::npos);
}

TEST_CASE("the figure of response functions has the values that the program computes") {
  std::ifstream file(GDR_SOURCE_DIR "/docs/generator/responses.csv");
  std::map<std::string, std::string> rows;  // by law, round trip and loss rate
  for (std::string line; std::getline(file, line);)
    rows[line.substr(0, line.find(',', line.find(',', line.find(',') + 1) + 1))] = line;
  REQUIRE(rows.size() == 1 + (congestion_laws().size() - 1) * 3 * 7);
  std::istringstream computed(response_csv(response_functions(1e-4)));
  std::size_t compared = 0;
  for (std::string line; std::getline(computed, line); ++compared) {
    INFO(line);
    const std::size_t key = line.find(',', line.find(',', line.find(',') + 1) + 1);
    const std::string& row = rows[line.substr(0, key)];
    if (compared == 0) {
      CHECK(row == line);  // the heading
      continue;
    }
    REQUIRE(row.size() > key);
    std::size_t first = 0, second = 0;
    const double simulated = std::stod(line.substr(key + 1), &first);
    // Hosts round logarithms differently, and random losses depend on them.
    CHECK(simulated == Approx(std::stod(row.substr(key + 1), &second)).epsilon(0.01));
    const std::string form = line.substr(key + 2 + first), drawn = row.substr(key + 2 + second);
    REQUIRE(form.empty() == drawn.empty());
    if (!form.empty()) CHECK(std::stod(form) == Approx(std::stod(drawn)).epsilon(1e-4));
  }
  CHECK(compared == 1 + (congestion_laws().size() - 1) * 3 * 3);
}
