// The process of one owner: a board that nobody used before, and memory that nobody else sees.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <vector>

#include "emulator/board/hardware/hardware.hpp"
#include "gdr/error.hpp"
#include "libgdr/driver/server/server.hpp"
#include "libgdr/driver/wire.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace gdr::driver {
namespace {

using Clock = std::chrono::steady_clock;
/// Before it sleeps a board looks so long at its doorbell itself: waking costs about ten
/// microseconds.
constexpr std::chrono::microseconds watch{50};
/// What is refused is logged so many times an owner.
constexpr unsigned most_log_lines = 20;
constexpr std::uint64_t first_bus = std::uint64_t{1} << 40;
constexpr std::uint64_t bus_step = std::uint64_t{1} << 36;

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#endif
}

/// Where memory runs out the system ends a process: that of an owner who took too much, not the
/// server.
void die_first() noexcept {
  const File file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  [[maybe_unused]] const ssize_t n = write(file.get(), "500", 3);
}

class Owner {
 public:
  Owner(const ServerOptions& options, int socket, unsigned board)
      : options_(options), socket_(socket), number_(board) {}

  void run(const std::string& engine, const std::string& isa);

 private:
  void grant(const std::string& engine, const std::string& isa);
  /// False when the owner has gone, or makes no sense.
  bool answer();
  void allocate(std::uint64_t bytes);
  void release(std::uint64_t bus);
  bool sleep();
  void log(const std::string& text);

  const ServerOptions& options_;
  File socket_;
  unsigned number_;
  File bar_file_, doorbell_, interrupt_;
  Mapping bar_;
  std::map<std::uint64_t, Mapping> areas_;
  std::uint64_t memory_ = 0, areas_made_ = 0;
  DmaSpace space_;
  std::unique_ptr<BoardHardware> hardware_;
  unsigned logged_ = 0;
};

void Owner::log(const std::string& text) {
  if (logged_++ < most_log_lines) log_line("board " + std::to_string(number_) + ": " + text);
}

void Owner::grant(const std::string& engine, const std::string& isa) {
  bar_file_ = make_shared_memory("gdr-registers", bar_bytes);
  bar_ = Mapping(bar_file_, bar_bytes, "registers");
  doorbell_ = File(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  interrupt_ = File(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!doorbell_ || !interrupt_)
    throw Error(ErrorCategory::Device, "no event files can be had: " + system_error());
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

void Owner::allocate(std::uint64_t bytes) {
  const auto refuse = [&](const std::string& why) {
    log("no memory for its owner: " + why);
    send_message(socket_, make_message(MessageKind::NoArea, 0, why));
  };
  ++areas_made_;
  constexpr std::uint64_t page = 4096;
  const std::uint64_t most = std::min(options_.most_memory / page * page, bus_step);
  if (bytes == 0 || bytes > most || (bytes + page - 1) / page * page > most - memory_)
    return refuse(std::to_string(bytes) + " bytes more than the " + std::to_string(memory_) +
                  " that there are would be beyond the limit of " +
                  std::to_string(options_.most_memory));
  const std::uint64_t rounded = (bytes + page - 1) / page * page;
  try {
    if (find_fault(options_.faults, FaultKind::NoArea, areas_made_) != nullptr) {
      errno = ENOSPC;
      throw Error(ErrorCategory::Device, "shared memory of " + std::to_string(bytes) +
                                             " bytes cannot be had: " + system_error());
    }
    const File file = make_shared_memory("gdr-transfers", rounded);
    const std::uint64_t bus = first_bus + areas_made_ * bus_step;
    Mapping mapping(file, rounded, "memory for transfers");
    space_.add({mapping.data(), bus, rounded});
    areas_.emplace(bus, std::move(mapping));
    memory_ += rounded;
    Message area = make_message(MessageKind::Area, bus);
    area.bytes = rounded;
    send_message(socket_, area, {file.get()});
  } catch (const Error& e) {
    refuse(e.what());
  }
}

void Owner::release(std::uint64_t bus) {
  const DmaArea area = space_.remove(bus);
  memory_ -= area.bytes;
  areas_.erase(bus);
}

bool Owner::answer() {
  std::vector<File> files;  // closed again: owners have none to give
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
      log("its owner sent a message that makes no sense");
      return false;
  }
}

/// Until the doorbell or the owner calls. False when the owner has gone.
bool Owner::sleep() {
  hardware_->set_asleep(true);
  pollfd p[] = {{doorbell_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
  if (!hardware_->has_work() && poll(p, 2, -1) < 0 && errno != EINTR) return false;
  hardware_->set_asleep(false);
  std::uint64_t rung = 0;
  [[maybe_unused]] const ssize_t n = read(doorbell_.get(), &rung, sizeof(rung));
  return p[1].revents == 0 || answer();
}

void Owner::run(const std::string& engine, const std::string& isa) {
  try {
    grant(engine, isa);
  } catch (const std::exception& e) {
    log(std::string("no board could be made: ") + e.what());
    send_message(socket_, make_message(MessageKind::Refused, 0, e.what()));
    return;
  }
  for (Clock::time_point last = Clock::now();;) {
    if (hardware_->step()) {
      last = Clock::now();
    } else if (Clock::now() - last < watch) {
      for (int k = 0; k < 16; ++k) relax();
    } else if (!sleep()) {
      break;
    } else {
      last = Clock::now();
    }
  }
  if (logged_ > most_log_lines)
    log_line("board " + std::to_string(number_) + ": and " +
             std::to_string(logged_ - most_log_lines) + " lines more like these");
}

}  // namespace

void serve_owner(const ServerOptions& options, int socket, unsigned board,
                 const std::string& engine, const std::string& isa) {
  int status = 0;
  die_first();
  try {
    Owner(options, socket, board).run(engine, isa);
  } catch (const std::exception& e) {
    log_line("board " + std::to_string(board) + ": " + e.what());
    status = 1;
  }
  std::_Exit(status);
}

}  // namespace gdr::driver
