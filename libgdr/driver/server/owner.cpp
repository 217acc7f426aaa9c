// The process that serves one owner: a board in its initial state, and memory shared with it.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "emulator/board/hardware/hardware.hpp"
#include "emulator/host/cpu_relax.hpp"
#include "gdr/error.hpp"
#include "libgdr/driver/polling.hpp"
#include "libgdr/driver/server/server.hpp"
#include "libgdr/driver/wire.hpp"

namespace gdr::driver {
namespace {

/// Maximum number of log lines per owner.
constexpr unsigned max_log_lines = 20;
constexpr std::uint64_t first_bus = std::uint64_t{1} << 40;
constexpr std::uint64_t bus_step = std::uint64_t{1} << 36;

/// Makes the system end this process before the server when memory runs out.
void raise_oom_score() noexcept {
  const File file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  [[maybe_unused]] const ssize_t n = write(file.get(), "500", 3);
}

class Owner {
 public:
  Owner(const ServerOptions& options, int socket, unsigned board)
      : options_(options), socket_(socket), number_(board) {}

  void run(const std::string& engine, const std::string& isa) {
    try {
      grant(engine, isa);
    } catch (const std::exception& e) {
      log(std::string("the board cannot be created: ") + e.what());
      send_message(socket_, make_message(MessageKind::Refused, 0, e.what()));
      return;
    }
    Polling polling(options_.poll_seconds.value_or(board_poll_seconds));
    do {
      bool polls = polling.begin();
      for (;;) {
        if (hardware_->step())
          polls = polling.begin();
        else if (!polls || !polling.goes_on())
          break;
        cpu_relax();
      }
    } while (sleep());
    if (log_lines_ > max_log_lines)
      log_line("board " + std::to_string(number_) + ": " +
               std::to_string(log_lines_ - max_log_lines) + " further messages not logged");
  }

 private:
  void grant(const std::string& engine, const std::string& isa) {
    bar_file_ = make_shared_memory("gdr-registers", bar_bytes);
    bar_ = Mapping(bar_file_, bar_bytes, "registers");
    doorbell_ = File(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    interrupt_ = File(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!doorbell_ || !interrupt_)
      throw device_error("event files cannot be created: " + system_error());
    const auto interrupt = [this] {
      const std::uint64_t one = 1;
      [[maybe_unused]] const ssize_t n = write(interrupt_.get(), &one, sizeof(one));
    };
    hardware_ = std::make_unique<BoardHardware>(
        HardwareConfig{options_.geometry, make_engine(engine, isa), options_.threads}, bar_.data(),
        space_, HardwareSignals{interrupt, [this](const std::string& text) { log(text); }},
        options_.faults);
    send_message(socket_, make_message(MessageKind::Granted, number_),
                 {bar_file_.get(), doorbell_.get(), interrupt_.get()});
  }

  /// Handles a message. False if the owner has disconnected, or the message is malformed.
  bool handle_message() {
    std::vector<File> files;  // closed at the end: owners send no files
    const std::optional<Message> message = receive_message(socket_, files);
    if (!message) return false;
    switch (message->kind) {
      case MessageKind::Allocate:
        allocate(message->number);
        return true;
      case MessageKind::Release:
        release(message->number);
        return true;
      default:
        log("malformed message from the owner; connection closed");
        return false;
    }
  }

  void allocate(std::uint64_t bytes) {
    const auto refuse = [&](const std::string& why) {
      log("allocation refused: " + why);
      send_message(socket_, make_message(MessageKind::AllocationFailed, 0, why));
    };
    ++allocations_;
    constexpr std::uint64_t page = 4096;
    const std::uint64_t limit = std::min(options_.max_shared_bytes / page * page, bus_step);
    if (bytes == 0 || bytes > limit || (bytes + page - 1) / page * page > limit - shared_bytes_)
      return refuse(std::to_string(bytes) + " bytes in addition to " +
                    std::to_string(shared_bytes_) + " exceed the limit of " +
                    std::to_string(options_.max_shared_bytes) +
                    " bytes; raise it with gdr serve --memory");
    const std::uint64_t rounded = (bytes + page - 1) / page * page;
    try {
      if (find_fault(options_.faults, FaultKind::NoArea, allocations_) != nullptr) {
        errno = ENOSPC;
        throw device_error("shared memory of " + std::to_string(bytes) +
                           " bytes cannot be allocated: " + system_error());
      }
      const File file = make_shared_memory("gdr-transfers", rounded);
      const std::uint64_t bus = first_bus + allocations_ * bus_step;
      Mapping mapping(file, rounded, "transfer memory");
      space_.add({mapping.data(), bus, rounded});
      areas_.emplace(bus, std::move(mapping));
      shared_bytes_ += rounded;
      Message area = make_message(MessageKind::Area, bus);
      area.bytes = rounded;
      send_message(socket_, area, {file.get()});
    } catch (const Error& e) {
      refuse(e.what());
    }
  }

  void release(std::uint64_t bus) {
    const DmaArea area = space_.remove(bus);
    shared_bytes_ -= area.bytes;
    areas_.erase(bus);
  }

  /// Sleeps until the doorbell or a message wakes it. False if the owner has disconnected.
  bool sleep() {
    hardware_->set_asleep(true);
    pollfd p[] = {{doorbell_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
    if (!hardware_->has_work() && poll(p, 2, -1) < 0 && errno != EINTR) return false;
    hardware_->set_asleep(false);
    std::uint64_t rung = 0;
    [[maybe_unused]] const ssize_t n = read(doorbell_.get(), &rung, sizeof(rung));
    return p[1].revents == 0 || handle_message();
  }

  void log(const std::string& text) {
    if (log_lines_++ < max_log_lines) log_line("board " + std::to_string(number_) + ": " + text);
  }

  const ServerOptions& options_;
  File socket_;
  unsigned number_;
  File bar_file_, doorbell_, interrupt_;
  Mapping bar_;
  std::map<std::uint64_t, Mapping> areas_;
  std::uint64_t shared_bytes_ = 0, allocations_ = 0;
  DmaSpace space_;
  std::unique_ptr<BoardHardware> hardware_;
  unsigned log_lines_ = 0;
};

}  // namespace

void serve_owner(const ServerOptions& options, int socket, unsigned board,
                 const std::string& engine, const std::string& isa) {
  int status = 0;
  raise_oom_score();
  try {
    Owner(options, socket, board).run(engine, isa);
  } catch (const std::exception& e) {
    log_line("board " + std::to_string(board) + ": " + e.what());
    status = 1;
  }
  std::_Exit(status);
}

}  // namespace gdr::driver
