// A board of a board server: shared memory, doorbell and interrupt as event files.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/host/parallel.hpp"
#include "libgdr/driver/access.hpp"
#include "libgdr/driver/wire.hpp"

namespace gdr::driver {
namespace {

using Clock = std::chrono::steady_clock;
/// Waits until a file is readable; false after the deadline, which signals do not extend.
bool readable(const File& file, Clock::time_point end) {
  pollfd p{file.get(), POLLIN, 0};
  for (;;) {
    const auto left =
        std::max<std::chrono::nanoseconds>(end - Clock::now(), Clock::duration::zero());
    if (poll_files({&p, 1}, left)) return true;
    if (left == Clock::duration::zero()) return false;
  }
}

std::string or_any(const std::string& text) { return text.empty() ? "-" : text; }

class ServerBoard final : public BoardAccess {
 public:
  ServerBoard(std::string path, const ServerRequest& request)
      : path_(std::move(path)), name_("a board of " + path_), socket_(connect_to(path_)) {
    Message hello =
        make_message(MessageKind::Hello, 0, or_any(request.engine) + " " + or_any(request.isa));
    hello.seconds = request.queue_timeout;
    const bool sent = send_message(socket_, hello);
    const Clock::time_point end = Clock::now() +
                                  std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(request.queue_timeout)) +
                                  answer_timeout;
    std::vector<File> files;
    std::optional<Message> answer;
    do {
      if (request.stop.stop_possible()) wait_unless_stopped(request.stop, end);
      answer = sent ? receive(end, files) : std::nullopt;
    } while (answer && answer->kind == MessageKind::Waiting);
    if (!answer)
      throw device_error("the board server at " + path_ +
                         " did not answer; check its log, or restart it");
    if (answer->kind == MessageKind::Refused)
      throw device_error("the board server at " + path_ +
                         " rejected the request: " + message_text(*answer));
    if (answer->kind != MessageKind::Granted || files.size() != 3)
      throw device_error("the process at " + path_ + " is not a board server; name another socket");
    name_ = "board " + std::to_string(answer->number) + " of " + path_;
    bar_ = Mapping(files[0], bar_bytes, "BAR 0 of " + name_);
    doorbell_ = std::move(files[1]);
    interrupt_ = std::move(files[2]);
  }

  std::byte* bar() noexcept override { return bar_.data(); }
  std::uint64_t largest_area() const noexcept override { return std::uint64_t{1} << 30; }
  const std::string& name() const noexcept override { return name_; }

  DmaArea allocate(std::uint64_t bytes) override {
    std::vector<File> files;
    std::optional<Message> answer;
    if (send_message(socket_, make_message(MessageKind::Allocate, bytes)))
      answer = receive(Clock::now() + answer_timeout, files);
    if (!answer) throw BoardFailure(name_ + ": its server ended; restart the server");
    if (answer->kind != MessageKind::Area || files.size() != 1)
      throw device_error(name_ +
                         ": the server allocates no transfer memory: " + message_text(*answer));
    Mapping& mapping = areas_.emplace_back(files[0], answer->bytes, "memory of " + name_);
    return {mapping.data(), answer->number, answer->bytes};
  }

  void release(const DmaArea& area) noexcept override {
    if (getpid() != process_) return;  // a forked child: the board belongs to its parent
    std::erase_if(areas_, [&](const Mapping& m) { return m.data() == area.memory; });
    send_message(socket_, make_message(MessageKind::Release, area.bus));
  }

  void signal_doorbell() noexcept override {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(doorbell_.get(), &one, sizeof(one));
  }

  WaitResult wait(std::chrono::nanoseconds time) override {
    pollfd p[] = {{interrupt_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
    if (!poll_files(p, time)) return WaitResult::Timeout;
    if (p[0].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t n = ::read(interrupt_.get(), &count, sizeof(count));
      return WaitResult::Interrupt;
    }
    return WaitResult::Disconnected;  // the server sends only answers: the connection is closed
  }

 private:
  /// Returns when the server has sent something, or at the end of the time.
  void wait_unless_stopped(const std::stop_token& stop, Clock::time_point end) const {
    constexpr std::chrono::milliseconds interval{100};
    while (Clock::now() < end && !readable(socket_, std::min(end, Clock::now() + interval)))
      if (stop.stop_requested()) throw Cancelled();
  }
  std::optional<Message> receive(Clock::time_point end, std::vector<File>& files) {
    if (!readable(socket_, end)) return {};
    return receive_message(socket_, files);
  }

  const pid_t process_ = getpid();
  std::string path_, name_;
  File socket_, doorbell_, interrupt_;
  Mapping bar_;
  std::vector<Mapping> areas_;
};

}  // namespace

std::unique_ptr<BoardAccess> open_server_board(const std::string& path,
                                               const ServerRequest& request) {
  return std::make_unique<ServerBoard>(path, request);
}

ServerStatus query_server(const std::string& path) {
  const File socket = connect_to(path);
  std::vector<File> files;
  std::optional<Message> answer;
  if (send_message(socket, make_message(MessageKind::StatusRequest)) &&
      readable(socket, Clock::now() + answer_timeout))
    answer = receive_message(socket, files);
  if (!answer || answer->kind != MessageKind::StatusReply)
    throw device_error("the process at " + path + " is not a board server; name another socket");
  return {static_cast<unsigned>(answer->number), static_cast<unsigned>(answer->bytes),
          message_text(*answer)};
}

std::string default_socket() {
  if (const char* path = std::getenv("GDR_SOCKET"); path != nullptr && *path != 0) return path;
  if (const char* folder = std::getenv("XDG_RUNTIME_DIR"); folder != nullptr && *folder != 0)
    return std::string(folder) + "/gdr.socket";
  return socket_in_tmp();
}

}  // namespace gdr::driver
