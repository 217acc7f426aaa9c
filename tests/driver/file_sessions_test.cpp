// Sessions with the files of a server: what hostile clients and servers send, and jobs that do not
// end.
#ifdef GDR_TEST_NETWORK
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "driver/server_process.hpp"
#include "emulator/host/stopwatch.hpp"
#include "libgdr/network/file_messages.hpp"
#include "libgdr/network/job_process.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace driver_test;
using namespace gdr::network;

namespace {

/// The greatest size in memory that a process has had, bytes.
double peak_bytes(const std::string& process) {
  std::ifstream status("/proc/" + process + "/status");
  const std::string name = "VmHWM:";
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return 1024 * std::stod(line.substr(name.size()));
  return 0;
}

/// A client of `gdr serve --insecure` that sends and receives frames itself.
class RawClient {
 public:
  explicit RawClient(unsigned port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int failed =
        connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address));
    REQUIRE(failed == 0);
    Hello hello;
    hello.subject = Subject::Files;
    send(&hello, sizeof(hello));
    Welcome welcome;
    receive(&welcome, sizeof(welcome));
    REQUIRE(welcome.answer == Answer::Granted);
  }

  void request(const FileRequest& request) {
    const Bytes message = encode_request(request);
    ++sent_;
    FrameHeader h{.kind = FrameKind::Data,
                  .bytes = static_cast<std::uint32_t>(message.size()),
                  .sequence = sent_,
                  .message = sent_,
                  .total = message.size()};
    send(&h, sizeof(h));
    send(message.data(), message.size());
  }

  /// Receives and acknowledges a frame. Returns its message if the message ends with it, else 0.
  std::uint64_t receive_frame() {
    FrameHeader h;
    receive(&h, sizeof(h));
    Bytes data(h.bytes);
    receive(data.data(), data.size());
    if (h.kind != FrameKind::Data) return 0;
    const FrameHeader answer{.kind = FrameKind::Acknowledge, .received = ++received_};
    send(&answer, sizeof(answer));
    return h.offset + h.bytes == h.total ? h.message : 0;
  }

 private:
  void send(const void* from, std::size_t bytes) {
    const auto sent = ::send(socket_.get(), from, bytes, MSG_NOSIGNAL);
    REQUIRE(sent == static_cast<ssize_t>(bytes));
  }
  void receive(void* to, std::size_t bytes) {
    if (bytes == 0) return;
    const auto received = ::recv(socket_.get(), to, bytes, MSG_WAITALL);
    REQUIRE(received == static_cast<ssize_t>(bytes));
  }

  gdr::driver::File socket_;
  std::uint64_t sent_ = 0, received_ = 0;
};

/// The time until a shell with this script has ended after a request, and its status.
std::pair<double, int> ended_after(const std::string& script, void (JobProcess::*request)()) {
  JobProcess job;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    (job.*request)();
  });
  const gdr::Stopwatch timer;
  const int status = job.run("/bin/sh", {"sh", "-c", script}, [](bool, std::string_view) {});
  const double seconds = timer.seconds();
  other.join();
  return {seconds, status};
}

}  // namespace

TEST_CASE("names that a server lists lead nowhere else") {
  FileReply reply;
  reply.texts = {"a.hdf5", "...", "b"};
  reply.sums = {2048, 10, 1};
  const auto files = listed_files(reply);
  REQUIRE(files.size() == 3);
  CHECK(files[0].name == "a.hdf5");
  CHECK(files[0].bytes == 1024);
  CHECK_FALSE(files[0].folder);
  CHECK(files[2].folder);
  using namespace std::string_literals;
  for (const std::string& name : {""s, "."s, ".."s, "/etc/x"s, "../x"s, "a/b"s, "a/"s, "a\0b"s}) {
    INFO(name);
    reply.texts[1] = name;
    CHECK(contains(error_of([&] { listed_files(reply); }), "nothing is written"));
  }
}

TEST_CASE("jobs that have closed their output are interrupted and ended") {
  const std::string closed = "exec >&- 2>&-; ";
  const std::string wait = "sleep 300";  // far longer than any host takes to end it
  constexpr double limit = 100;
  const auto interrupted = ended_after(closed + wait, &JobProcess::interrupt);
  CHECK(interrupted.first < limit);
  CHECK(interrupted.second == 128 + SIGINT);
  const auto ended = ended_after(closed + wait, &JobProcess::end);
  CHECK(ended.first < limit);
  CHECK(ended.second == 128 + SIGTERM);
  const auto killed = ended_after(closed + "trap '' TERM; " + wait, &JobProcess::end);
  CHECK(killed.first < limit);
  CHECK(killed.second == 128 + SIGKILL);
  // Its status is that of its end, not of its output's.
  CHECK(ended_after(closed + wait + "; exit 7", &JobProcess::interrupt).second == 128 + SIGINT);
  JobProcess job;
  CHECK(job.run("/bin/sh", {"sh", "-c", closed + "sleep 0.1; exit 7"},
                [](bool, std::string_view) {}) == 7);
}

TEST_CASE("a job whose output cannot be passed on is ended") {
  JobProcess job;
  const gdr::Stopwatch timer;
  CHECK_THROWS_AS(
      job.run("/bin/sh", {"sh", "-c", "echo text; sleep 300"},
              [](bool, std::string_view) { throw std::runtime_error("no memory is left"); }),
      std::runtime_error);
  CHECK(timer.seconds() < 100);
}

TEST_CASE(
    "a client that requests files and reads no replies does not exhaust the server's memory") {
  constexpr long landlock_create_ruleset = 444;
  if (syscall(landlock_create_ruleset, nullptr, 0, 1U) < 1) {
    WARN("not tested: this system has no Landlock");
    return;
  }
  const gdr::test::TemporaryFolder folder;
  constexpr std::uint64_t chunk = 1 << 20;
  std::ofstream(folder.file("data")).put('x');
  std::filesystem::resize_file(folder.file("data"), chunk);
  const ServerProcess server(
      {"--listen", "127.0.0.1:0", "--insecure", "--files", folder.path(), "--memory", "16"});
  // The log says what clients without credentials can do.
  CHECK(contains(server.log(), "and read the files below"));
  const std::string& text = server.greeting();
  RawClient client(static_cast<unsigned>(std::stoul(text.substr(text.rfind(':') + 1))));
  REQUIRE_FALSE(server.children().empty());
  const std::string process = server.children().front();
  const double before = peak_bytes(process);
  constexpr std::uint64_t requests = 400;
  for (std::uint64_t k = 1; k <= requests; ++k)
    client.request({k, FileAction::Read, 0, chunk, 0, {"server:/data"}, {}});
  std::this_thread::sleep_for(std::chrono::seconds(2));
  CHECK(peak_bytes(process) - before < 100e6);
  // All replies arrive once they are read.
  std::uint64_t last = 0;
  while (last < requests)
    if (const std::uint64_t message = client.receive_frame(); message != 0) last = message;
  CHECK(last == requests);
  CHECK(peak_bytes(process) - before < 100e6);
}
#endif
