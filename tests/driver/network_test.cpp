// Boards of servers on other hosts: bits, errors, authentication, broken connections.
#include "libgdr/driver/network.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "driver/interrupted_jobs.hpp"
#include "driver/server_process.hpp"
#include "driver/tcp_proxy.hpp"
#include "emulator/engine/api/engine.hpp"
#include "emulator/host/stopwatch.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

using namespace driver_test;

namespace {

/// A directory with keys.
class Keys {
 public:
  Keys() {
    char folder[] = "/tmp/gdr-keys-XXXXXX";
    if (mkdtemp(folder) == nullptr) throw std::runtime_error("cannot create a directory");
    folder_ = folder;
    write("good", "cluster:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
    write("wrong", "cluster:ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
    write("unknown", "other:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
  }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;
  ~Keys() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& text, unsigned mode = 0600) const {
    std::ofstream(path(name)) << text << '\n';
    chmod(path(name).c_str(), mode);
  }

 private:
  std::string folder_;
};

/// A server with a TCP port.
class NetworkServer {
 public:
  explicit NetworkServer(std::vector<std::string> options = {})
      : server_(with(std::move(options))) {
    const std::string& text = server_.greeting();
    const std::size_t colon = text.rfind(':');
    port_ = static_cast<unsigned>(std::stoul(text.substr(colon + 1)));
  }
  unsigned port() const { return port_; }
  const Keys& keys() const { return keys_; }
  const ServerProcess& process() const { return server_; }
  std::string device(const std::string& options = "", unsigned port = 0) const {
    return "board:tcp:127.0.0.1:" + std::to_string(port == 0 ? port_ : port) +
           ",psk=" + keys_.path("good") + (options.empty() ? "" : "," + options);
  }
  bool serves_others() const {
    gdr::Device device = gdr::Device::open(this->device("self_test=0,queue_timeout=20"));
    return forces(device, 20, 20) == expected_forces(20, 20);
  }

 private:
  std::vector<std::string> with(std::vector<std::string> options) const {
    const std::vector<std::string> more{"--listen", "127.0.0.1:0", "--psk", keys_.path("good")};
    options.insert(options.end(), more.begin(), more.end());
    return options;
  }
  Keys keys_;
  ServerProcess server_;
  unsigned port_ = 0;
};

unsigned port_of(const ServerProcess& server) {
  const std::string& text = server.greeting();
  return static_cast<unsigned>(std::stoul(text.substr(text.rfind(':') + 1)));
}

std::vector<double> forces_of_stars(gdr::Device& device) {
  constexpr std::size_t n = 700;
  const std::vector<double> position = library_test::rough_values(3 * n, 1), mass(n, 1.0 / n);
  std::vector<double> results(4 * n);
  gdr::Gravity(device).compute(n, position.data(), mass.data(), 0.03, results.data(),
                               results.data() + 3 * n);
  return results;
}

}  // namespace

TEST_CASE("a board of another host returns the emulator's bits and counters") {
  const NetworkServer server;
  for (const char* streams : {"streams=1", "streams=4"}) {
    gdr::Device here = gdr::Device::open("exact:" + small_machine);
    gdr::Device there = gdr::Device::open(server.device(streams));
    CHECK(contains(there.description(), "board:tcp:127.0.0.1:" + std::to_string(server.port()) +
                                            ": 1 board of 2 chips"));
    CHECK(forces_of_stars(there) == forces_of_stars(here));
    // All targets at once, several batches, a few with many sources, none.
    for (const auto& [targets, sources] :
         {std::pair{100, 40}, {3000, 70}, {7, 5000}, {5, 0}, {0, 5}})
      CHECK(forces(there, static_cast<std::size_t>(targets), static_cast<std::size_t>(sources)) ==
            forces(here, static_cast<std::size_t>(targets), static_cast<std::size_t>(sources)));
    const gdr::Statistics a = here.statistics(), b = there.statistics();
    CHECK(a.chip_clocks == b.chip_clocks);
    CHECK(a.bytes_to_board == b.bytes_to_board);
    CHECK(a.bytes_from_board == b.bytes_from_board);
    CHECK(a.predicted_seconds == Approx(b.predicted_seconds));
    CHECK(a.fast_runs == b.fast_runs);
    CHECK(b.board_seconds > 0);
    CHECK(b.transfer_seconds > 0);
    const std::vector<gdr::StreamStatistics> all = there.streams();
    REQUIRE(all.size() == (std::string(streams) == "streams=1" ? 1 : 4));
    std::uint64_t sent = 0, received = 0;
    for (const gdr::StreamStatistics& s : all) {
      CHECK(contains(s.board, "at 127.0.0.1:"));
      CHECK(s.stream == static_cast<unsigned>(&s - all.data()));
      CHECK(s.connections == 1);
      CHECK(s.repeated_frames == 0);
      CHECK(s.round_trip_seconds > 0);
      sent += s.bytes_sent;
      received += s.bytes_received;
    }
    CHECK(sent > b.bytes_to_board);
    CHECK(received > b.bytes_from_board);
    CHECK(here.streams().empty());
  }
}

TEST_CASE("a stream is paced") {
  const NetworkServer server;
  gdr::Device device = gdr::Device::open(server.device("streams=2,pacing=8e9,self_test=0"));
  CHECK(forces(device, 300, 50) == expected_forces(300, 50));
  for (const gdr::StreamStatistics& s : device.streams()) CHECK(s.pacing_rate == Approx(4e9));
  CHECK(contains(error_of([&] { gdr::Device::open(server.device("congestion=nonsense")); }),
                 "this system refuses the requested congestion control nonsense"));
}

TEST_CASE("several boards of another host share a job, and replace one that fails") {
  const NetworkServer server({"--boards", "3", "--inject", "crash@40"});
  gdr::Device device = gdr::Device::open(server.device("boards=3,self_test=0"));
  // The first board executes most lists: it fails first.
  const std::vector<double> wanted[] = {expected_forces(200, 90), expected_forces(3000, 90)};
  std::string error = "no error";
  unsigned max_failed = 0;
  for (int k = 0; k < 200 && error == "no error"; ++k) {
    const bool large = k % 3 != 0;
    std::vector<double> results = wanted[large];
    error = error_of([&] { results = forces(device, large ? 3000 : 200, 90); });
    CHECK(results == wanted[large]);
    if (error == "no error") max_failed = std::max(max_failed, device.statistics().failed_boards);
  }
  CHECK(max_failed >= 1);
  CHECK(contains(error, "all 3 boards failed"));
}

TEST_CASE("lists that a board of another host rejects are errors, and the next ones work") {
  const NetworkServer server;
  gdr::driver::NetworkRequest request;
  request.server = {"127.0.0.1", std::to_string(server.port())};
  request.credentials.shared_key = server.keys().path("good");
  const gdr::driver::NetworkBoard opened = gdr::driver::network().open(request);
  gdr::BoardLink& board = *opened.link;
  gdr::Geometry g;
  g.chips_per_board = g.blocks = 2;
  CHECK(opened.identity.geometry == g);
  const auto here = gdr::emulate_board(g, gdr::make_engine(), 1);
  const std::uint64_t far = ~std::uint64_t{0} - 5;
  std::vector<std::uint64_t> results;
  const auto list = [](gdr::CommandKind kind, std::uint64_t address) {
    gdr::CommandList l;
    l.payload.assign(9, 7);
    gdr::Command& c = l.commands.emplace_back();
    c.kind = kind;
    c.chips = 1;
    c.address = address;
    c.count = 9;
    return l;
  };
  const gdr::CommandList wrong = list(gdr::CommandKind::ReadMemory, far);
  const std::string wanted = error_of([&] { here->execute(wrong, results); });
  CHECK(wanted != "no error");
  for (int k = 0; k < 3; ++k) {
    CHECK(error_of([&] { board.execute(wrong, results); }) == wanted);
    board.execute(list(gdr::CommandKind::WriteMemory, 0), results);
    board.execute(list(gdr::CommandKind::ReadMemory, 0), results);
    CHECK(results == std::vector<std::uint64_t>(9, 7));
  }
  // The error of a posted list is thrown by the next call.
  board.execute(list(gdr::CommandKind::WriteMemory, far), results);
  CHECK(contains(error_of([&] { board.wait_for_completion(); }), "beyond the memory"));
  board.wait_for_completion();
  // Lists in flight behind a failed one are skipped.
  for (int k = 0; k < 3; ++k) board.start(list(gdr::CommandKind::ReadMemory, 0));
  board.start(wrong);
  board.start(list(gdr::CommandKind::ReadMemory, 0));
  CHECK(error_of([&] {
          for (int k = 0; k < 5; ++k) board.finish(results);
        }) == wanted);
  board.execute(list(gdr::CommandKind::ReadMemory, 0), results);
  CHECK(results == std::vector<std::uint64_t>(9, 7));
}

TEST_CASE("clients with wrong or missing credentials are refused, others are served") {
  const NetworkServer server;
  const std::string place = "board:tcp:127.0.0.1:" + std::to_string(server.port());
  const auto error = [&](const std::string& options) {
    return error_of([&] { gdr::Device::open(place + options); });
  };
  CHECK(contains(error(""), "needs credentials: the device options psk=FILE"));
  for (const char* key : {"wrong", "unknown"}) {
    INFO(key);
    const std::string text = error(",psk=" + server.keys().path(key));
    CHECK(contains(text, "refused the connection ("));
    CHECK(contains(text, "use the credentials that it was started with"));
  }
  CHECK(contains(error(",insecure=1"), "refused the connection ("));
  CHECK(contains(error(",psk=/nowhere/key"), "the shared key /nowhere/key cannot be read"));
  const std::string key = "cluster:0123456789abcdef0123456789abcdef";
  CHECK(contains(error(",psk=" + key), "give the name of the file that contains it"));
  CHECK(!contains(error(",psk=" + key), key));
  server.keys().write("open", "cluster:00112233445566778899aabbccddeeff", 0644);
  CHECK(contains(error(",psk=" + server.keys().path("open")), "is readable by other users"));
  for (const char* text : {"", "cluster", ":00112233445566778899aabbccddeeff", "cluster:0011",
                           "cluster:0g112233445566778899aabbccddeeff"}) {
    server.keys().write("bad", text);
    CHECK(contains(error(",psk=" + server.keys().path("bad")), "the shared key"));
  }
  CHECK(contains(error(",psk=" + server.keys().path("good") + ",insecure=1"), "not both"));
  CHECK(contains(error(",cert=" + server.keys().path("good")), "certificates are incomplete"));
  CHECK(server.serves_others());
  CHECK(contains(server.process().log(), "was refused"));
}

TEST_CASE("servers without credentials listen at loopback addresses only") {
  const auto start = [](const std::vector<std::string>& options) -> std::string {
    try {
      const ServerProcess server(options);
      return server.greeting();
    } catch (const std::runtime_error& e) {
      return e.what();
    }
  };
  CHECK(contains(start({"--listen", "127.0.0.1:0"}), "does not start"));
  CHECK(contains(start({"--listen", "0.0.0.0:0", "--insecure"}), "does not start"));
  const ServerProcess server({"--listen", "127.0.0.1:0", "--insecure"});
  const std::string port = std::to_string(port_of(server));
  gdr::Device device = gdr::Device::open("board:tcp:127.0.0.1:" + port + ",insecure=1");
  CHECK(forces(device, 60, 30) == expected_forces(60, 30));
  CHECK(contains(server.log(), "warning: connections at 127.0.0.1:" + port +
                                   " are neither encrypted nor authenticated"));
}

TEST_CASE("insecure connections are plain TCP, and the others TLS") {
  // The name of the engine is in the first message of a client, and in the server's answer.
  const auto passes_in_clear = [](unsigned port, const std::string& options) {
    TcpProxy proxy(port);
    gdr::Device device = gdr::Device::open("board:tcp:127.0.0.1:" + std::to_string(proxy.port()) +
                                           "," + options + ",streams=3");
    CHECK(forces(device, 60, 30) == expected_forces(60, 30));
    return contains(proxy.first_bytes(), "dgewbnt1") && contains(proxy.first_bytes(), "vector");
  };
  const ServerProcess plain({"--listen", "127.0.0.1:0", "--insecure", "--engine", "vector"});
  CHECK(passes_in_clear(port_of(plain), "insecure=1"));
  const NetworkServer secure({"--engine", "vector"});
  CHECK_FALSE(passes_in_clear(secure.port(), "psk=" + secure.keys().path("good")));
  // A client with a key does not use a server without: it sends nothing in clear.
  const std::string error =
      error_of([&] { gdr::Device::open(secure.device("self_test=0", port_of(plain))); });
  CHECK(contains(error, "refused the connection ("));
  CHECK(contains(plain.log(), "it uses TLS, but this server was started with --insecure"));
  CHECK(contains(error_of([&] {
                   gdr::Device::open("board:tcp:127.0.0.1:" + std::to_string(secure.port()) +
                                     ",insecure=1");
                 }),
                 "it may require credentials"));
}

TEST_CASE("hosts authenticate each other by certificates") {
  if (std::system("openssl version >/dev/null 2>&1") != 0) return;
  const Keys keys;
  const std::string folder = keys.path("");
  const auto run = [&](const std::string& command) {
    REQUIRE(std::system(("cd " + folder + " && " + command + " >/dev/null 2>&1").c_str()) == 0);
  };
  for (const char* ca : {"ca", "stranger"})
    run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" +
        std::string(ca) + " -keyout " + ca + ".key -out " + ca + ".pem");
  const auto sign = [&](const std::string& name, const std::string& ca, const std::string& host) {
    run("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + name +
        " -keyout " + name + ".key -out " + name + ".csr");
    keys.write(name + ".ext", "subjectAltName=" + host);
    run("openssl x509 -req -days 2 -in " + name + ".csr -CA " + ca + ".pem -CAkey " + ca +
        ".key -CAcreateserial -extfile " + name + ".ext -out " + name + ".pem");
  };
  sign("server", "ca", "IP:127.0.0.1");
  sign("elsewhere", "ca", "DNS:elsewhere.example");
  sign("client", "ca", "DNS:client.example");
  sign("intruder", "stranger", "DNS:client.example");
  const auto device = [&](const ServerProcess& server, const std::string& name,
                          const std::string& ca) {
    const std::string& text = server.greeting();
    return "board:tcp:127.0.0.1:" +
           text.substr(text.rfind(':') + 1, text.find('\n') - text.rfind(':') - 1) +
           ",cert=" + keys.path(name + ".pem") + ",key=" + keys.path(name + ".key") +
           ",ca=" + keys.path(ca + ".pem");
  };
  const auto options = [&](const std::string& name) {
    return std::vector<std::string>{"--listen", "127.0.0.1:0",
                                    "--cert",   keys.path(name + ".pem"),
                                    "--key",    keys.path(name + ".key"),
                                    "--ca",     keys.path("ca.pem")};
  };
  {
    const ServerProcess server(options("server"));
    gdr::Device good = gdr::Device::open(device(server, "client", "ca"));
    CHECK(forces(good, 60, 30) == expected_forces(60, 30));
    CHECK(contains(error_of([&] { gdr::Device::open(device(server, "intruder", "ca")); }),
                   "refused the connection"));
    CHECK(contains(error_of([&] { gdr::Device::open(device(server, "client", "stranger")); }),
                   "refused the connection"));
  }
  const ServerProcess other(options("elsewhere"));
  CHECK(contains(error_of([&] { gdr::Device::open(device(other, "client", "ca")); }),
                 "refused the connection"));
}

TEST_CASE("a board of another host that is in use is waited for") {
  const NetworkServer server;
  auto first = std::make_unique<gdr::Device>(gdr::Device::open(server.device()));
  CHECK(contains(error_of([&] { gdr::Device::open(server.device("queue_timeout=0.1")); }),
                 "no board became free within the queue timeout"));
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    first.reset();
  });
  gdr::Device second = gdr::Device::open(server.device("queue_timeout=20"));
  later.join();
  CHECK(forces(second, 20, 20) == expected_forces(20, 20));
}

TEST_CASE("connections that are cut at random points resume without wrong results") {
  const NetworkServer server;
  TcpProxy proxy(server.port());
  gdr::Device device = gdr::Device::open(server.device("streams=3,self_test=0", proxy.port()));
  const std::vector<double> wanted = expected_forces(3000, 200);
  const std::uint64_t seed = gdr::test::first_seed(), enough = gdr::test::test_iterations(30);
  std::atomic<bool> done = false;
  std::atomic<unsigned> cuts = 0;
  std::thread cutter([&] {
    std::mt19937_64 random(seed);
    while (!done) {
      // Cuts during transfers of one to thousands of bytes more.
      const std::uint64_t next = proxy.bytes() + random() % 60'000;
      const double begin = gdr::steady_seconds();
      while (!done && proxy.bytes() < next && gdr::steady_seconds() < begin + 0.3)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      proxy.cut();
      ++cuts;
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 80));
    }
  });
  unsigned jobs = 0, wrong = 0;
  std::string error = "no error";
  while (error == "no error" && cuts < enough) {
    std::vector<double> results;
    error = error_of([&] { results = forces(device, 3000, 200); });
    ++jobs;
    if (results != wanted) ++wrong;
  }
  done = true;
  cutter.join();
  INFO(jobs << " jobs, " << cuts << " cuts, " << proxy.connections() << " connections");
  CHECK(error == "no error");
  CHECK(wrong == 0);
  std::uint64_t connections = 0;
  for (const gdr::StreamStatistics& s : device.streams()) connections += s.connections;
  CHECK(connections > 10);
}

TEST_CASE("a board whose connection is not restored counts as lost, and others do its work") {
  const NetworkServer server({"--boards", "2", "--resume", "1"});
  auto proxy = std::make_unique<TcpProxy>(server.port());
  gdr::Device device =
      gdr::Device::open(server.device("boards=2,self_test=0,resume=1", proxy->port()));
  CHECK(forces(device, 3000, 90) == expected_forces(3000, 90));
  proxy->refuse(true);
  proxy->cut();
  const std::string error = error_of([&] { forces(device, 3000, 90); });
  CHECK(contains(error, "all 2 boards failed"));
  CHECK(contains(error, "was not restored within 1 seconds"));
  // The server releases the boards.
  CHECK(server.serves_others());
}

TEST_CASE("an interrupt cancels a job on another host's board, which remains usable") {
  const NetworkServer server;
  gdr::Device device = gdr::Device::open(server.device());
  check_interrupts(device);
}

TEST_CASE("a late interrupt of a job on other hosts' boards does not concern the next job") {
  const NetworkServer server({"--boards", "2"});
  const std::string boards = GENERATE("", "boards=2,");
  INFO("boards " << boards);
  gdr::Device device = gdr::Device::open(server.device(boards + "self_test=0"));
  check_late_interrupts(device);
}

TEST_CASE("half-open connections and garbage do not block other clients") {
  const NetworkServer server;
  std::vector<gdr::driver::File> open;
  std::mt19937 random(3);
  for (int k = 0; k < 500; ++k) {
    open.push_back(connect_tcp(server.port()));
    if (k % 2 == 0 || !open.back()) continue;
    std::string garbage(random() % 400, '\0');
    for (char& c : garbage) c = static_cast<char>(random());
    [[maybe_unused]] const ssize_t n = write(open.back().get(), garbage.data(), garbage.size());
  }
  CHECK(server.serves_others());
  // Records that begin as those of TLS, with random changes.
  std::string record("\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03", 11);
  record.resize(205, 'r');
  for (int k = 0; k < 1000; ++k) {
    std::string changed = record;
    for (unsigned n = 0; n < 1 + random() % 5; ++n)
      changed[random() % changed.size()] = static_cast<char>(random());
    const gdr::driver::File file = connect_tcp(server.port());
    [[maybe_unused]] const ssize_t n = write(file.get(), changed.data(), changed.size());
  }
  CHECK(server.serves_others());
  const std::string log = server.process().log();
  CHECK(std::ranges::count(log, '\n') < 100);
}
