#include "libgdr/network/file_client.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>

#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "libgdr/io/atomic_file.hpp"
#include "libgdr/network/client.hpp"
#include "libgdr/network/file_chunks.hpp"
#include "libgdr/network/file_messages.hpp"

namespace gdr::network {
namespace {

using driver::File;
using driver::ServerFile;
using driver::TransferReport;

/// Bytes on their way: two seconds of the path's rate, so that the other streams go on while one is
/// restored, but not less than this and not more than that.
constexpr double min_ahead = 64e6, max_ahead = 1e9, seconds_ahead = 2;

constexpr int max_links = 40;  ///< number of symbolic links that Linux follows

[[noreturn]] void fail_locally(std::string_view action, const std::string& path) {
  throw Error(ErrorCategory::Io, io_message(action, path, errno));
}

/// The file that a copy creates or replaces, with symbolic links resolved. Throws Error (Io) for
/// what exists and is no regular file: a device or a pipe must not be replaced.
std::string replaced_file(const std::string& local) {
  namespace fs = std::filesystem;
  struct stat status {};
  const bool exists = stat(local.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode))
    throw Error(ErrorCategory::Io,
                "cannot write '" + local + "': it exists and is no regular file");
  if (!exists && errno != ENOENT) fail_locally("write", local);
  // Also a link to a file that does not exist yet.
  fs::path path = local;
  std::error_code ignored;
  for (int links = 0; links < max_links && fs::is_symlink(path, ignored); ++links)
    path = path.parent_path() / fs::read_symlink(path, ignored);
  return path.string();
}

class FileClient final : public driver::ServerFiles {
 public:
  explicit FileClient(const driver::NetworkRequest& request)
      : server_(request.server.text()),
        ahead_(static_cast<std::uint64_t>(
            std::clamp(request.transfers.bandwidth / 8 * seconds_ahead, min_ahead, max_ahead))),
        connections_(request, {.message = [this](Bytes&& m) { arrived(decode_file_reply(m)); },
                               .urgent = {},
                               .end =
                                   [this](const std::string& reason) {
                                     const std::scoped_lock lock(mutex_);
                                     lost_ = reason;
                                     changed_.notify_all();
                                   }}) {
    const Welcome w = connections_.open();
    ahead_ = std::min(ahead_, w.max_bytes / 2);
    early_ = std::min(ahead_, static_cast<std::uint64_t>(connections_.bytes_in_flight()));
  }

  ServerFile status(const std::string& name) override {
    return status_of(call(named(FileAction::Status, name)));
  }

  std::vector<ServerFile> list(const std::string& folder) override {
    return listed_files(call(named(FileAction::List, folder)));
  }

  TransferReport send(const std::string& local, const std::string& name,
                      const Progress& progress) override {
    const Stopwatch timer;
    const File file(::open(local.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat before {};
    if (!file || fstat(file.get(), &before) != 0) fail_locally("read", local);
    if (!S_ISREG(before.st_mode))
      throw Error(ErrorCategory::Io, "cannot read '" + local + "': it is no regular file");
    TransferReport report{static_cast<std::uint64_t>(before.st_size), 0, 0};
    forget_waiting();
    FileRequest create = named(FileAction::Create, name);
    create.bytes = report.bytes;
    submit(std::move(create));
    // Chunks are sent before it is known which ones are there, as many as the path holds: it would
    // be idle until the server has answered.
    std::optional<std::vector<std::uint64_t>> there;
    std::vector<std::uint64_t> sums;
    std::uint64_t answered = 0;
    const auto answer = [&] {
      Taken taken = take();
      answered += taken.bytes_sent;
      if (!there) there = std::move(taken.reply.sums);
      if (progress) progress(report.resumed + answered);
    };
    for (std::uint64_t k = 0; k < chunk_count(report.bytes); ++k) {
      Bytes data = read_chunk(file, k, report.bytes, local);
      sums.push_back(chunk_checksum(data));
      while (!there && (waiting_bytes_ + data.size() > early_ || has_reply())) answer();
      if (there && k < there->size() && (*there)[k] == sums[k]) {
        report.resumed += data.size();
        continue;
      }
      while (!waiting_.empty() && waiting_bytes_ + data.size() > ahead_) answer();
      FileRequest write{0, FileAction::Write, k * chunk_bytes, 0, sums[k], {}, std::move(data)};
      submit(std::move(write));
    }
    struct stat after {};
    if (fstat(file.get(), &after) != 0 || after.st_mtim.tv_sec != before.st_mtim.tv_sec ||
        after.st_mtim.tv_nsec != before.st_mtim.tv_nsec || after.st_size != before.st_size) {
      forget_waiting();
      throw Error(ErrorCategory::Io,
                  "'" + local + "' was changed while it was copied; copy it again");
    }
    // The server handles requests in order, so this one needs no round trip of its own.
    submit({0, FileAction::Commit, 0, 0, file_checksum(sums), {}, {}});
    while (!waiting_.empty()) answer();
    report.seconds = timer.seconds();
    return report;
  }

  TransferReport fetch(const std::string& name, const std::string& target,
                       const Progress& progress) override {
    const Stopwatch timer;
    const std::string local = replaced_file(target);
    const std::string part = local + std::string(part_suffix);
    const auto request_chunk = [&](std::uint64_t k) {
      FileRequest read = named(FileAction::Read, name);
      read.offset = k * chunk_bytes;
      read.bytes = chunk_bytes;
      submit(std::move(read));
    };
    // Unless a part of the file is here, chunks are requested before its size is known, twice as
    // many as the path holds: the next requests arrive when the first chunks are on their way.
    forget_waiting();
    submit(named(FileAction::Status, name));
    struct stat left {};
    std::uint64_t requested = 0;
    if (stat(part.c_str(), &left) != 0)
      while ((requested + 1) * chunk_bytes <= 2 * early_) request_chunk(requested++);
    const FileReply known = take().reply;
    const ServerFile there = status_of(known);
    if (!there.exists || there.folder) forget_waiting();
    if (!there.exists)
      throw Error(ErrorCategory::Io, "cannot read '" + name + "': the server has no such file");
    if (there.folder) throw Error(ErrorCategory::Io, "cannot read '" + name + "': it is a folder");
    TransferReport report{there.bytes, 0, 0};
    File file;
    for (Lock lock = Lock::Lost; lock == Lock::Lost;) {
      file =
          File(::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
      if (!file) fail_locally("write", local);
      lock = lock_part(file, AT_FDCWD, part);
      if (lock == Lock::Busy)
        throw Error(ErrorCategory::Io, "'" + local + "' is being copied by another process");
    }
    if (fstat(file.get(), &left) != 0) fail_locally("write", local);
    if (!S_ISREG(left.st_mode))
      throw Error(ErrorCategory::Io, "cannot write '" + part + "': it is no regular file");
    if (static_cast<std::uint64_t>(left.st_size) > there.bytes &&
        ftruncate(file.get(), static_cast<off_t>(there.bytes)) != 0)
      fail_locally("write", local);
    // The server compares only if a part of the file is here.
    std::vector<std::uint64_t> sums;
    const auto old = std::min(static_cast<std::uint64_t>(left.st_size), there.bytes);
    if (old > 0 && requested == 0) sums = call(named(FileAction::Sums, name)).sums;
    std::uint64_t done = 0;
    const auto answer = [&] {
      const Taken taken = take();
      if (taken.offset >= there.bytes) return;  // requested before the size was known
      const FileReply& reply = taken.reply;
      if (reply.version != known.version)
        throw Error(ErrorCategory::Io,
                    "'" + name + "' was changed while it was copied; copy it again");
      if (reply.data.size() != chunk_size(taken.offset / chunk_bytes, there.bytes) ||
          chunk_checksum(reply.data) != reply.checksum)
        throw Error(ErrorCategory::Io, "a chunk of '" + name + "' at " +
                                           std::to_string(taken.offset) +
                                           " has arrived with another checksum; copy it again");
      write_bytes(file, taken.offset, reply.data, local);
      done += reply.data.size();
      if (progress) progress(report.resumed + done);
    };
    for (std::uint64_t k = 0; k < chunk_count(there.bytes); ++k) {
      const std::uint64_t bytes = chunk_size(k, there.bytes);
      if (k < sums.size() && k * chunk_bytes + bytes <= old &&
          chunk_checksum(read_chunk(file, k, there.bytes, part)) == sums[k]) {
        report.resumed += bytes;
        continue;
      }
      while (!waiting_.empty() && waiting_bytes_ + bytes > ahead_) answer();
      if (k >= requested) request_chunk(k);
    }
    while (!waiting_.empty()) answer();
    struct stat replaced {};
    if (stat(local.c_str(), &replaced) == 0) fchmod(file.get(), replaced.st_mode & 0777);
    if (fdatasync(file.get()) != 0 || rename(part.c_str(), local.c_str()) != 0)
      fail_locally("write", local);
    report.seconds = timer.seconds();
    return report;
  }

  int run(const driver::ServerJob& job, const Output& output,
          const std::function<bool()>& stop_requested) override {
    FileRequest request{0, FileAction::Run, 0, 0, 0, {job.device_options}, {}};
    request.texts.insert(request.texts.end(), job.arguments.begin(), job.arguments.end());
    forget_waiting();
    const std::uint64_t number = submit(std::move(request));
    bool stopped = false;
    for (;;) {
      if (!stopped && stop_requested()) {
        stopped = true;
        connections_.send_urgent(number);
      }
      FileReply reply;
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, std::chrono::milliseconds(100),
                               [this] { return !replies_.empty() || !lost_.empty(); }))
          continue;
        if (replies_.empty()) throw_lost();
        reply = std::move(replies_.front());
        replies_.pop_front();
      }
      const bool text =
          reply.answer == FileAnswer::Output || reply.answer == FileAnswer::ErrorOutput;
      if (text && !reply.texts.empty())
        output(reply.answer == FileAnswer::ErrorOutput, reply.texts.front());
      if (text) continue;
      waiting_.clear();
      throw_failure(reply);
      return static_cast<int>(reply.bytes);
    }
  }

  std::vector<StreamStatistics> streams() override {
    std::vector<StreamStatistics> all = connections_.streams();
    for (StreamStatistics& s : all) s.board = "files of " + server_;
    return all;
  }

 private:
  struct Waiting {
    std::uint64_t number = 0, offset = 0;
    std::uint64_t bytes = 0;  ///< data of the request and its reply
  };
  struct Taken {
    std::uint64_t offset = 0, bytes_sent = 0;
    FileReply reply;
  };

  static FileRequest named(FileAction action, const std::string& name) {
    return {0, action, 0, 0, 0, {name}, {}};
  }
  static ServerFile status_of(const FileReply& reply) {
    if (reply.texts.empty() || reply.sums.size() < 2) malformed();
    return {reply.texts[0], reply.sums[0] != 0, reply.sums[1] != 0, reply.bytes};
  }
  [[noreturn]] static void malformed() {
    throw Error(ErrorCategory::Device,
                "the server gives no valid answer; use a command and a server of the same release");
  }

  void arrived(FileReply reply) {
    const std::scoped_lock lock(mutex_);
    replies_.push_back(std::move(reply));
    changed_.notify_all();
  }

  [[noreturn]] void throw_lost() const {
    throw Error(ErrorCategory::Device, "the files of " + server_ + ": " + lost_);
  }

  static void throw_failure(const FileReply& reply) {
    if (reply.answer == FileAnswer::Done) return;
    const bool known = reply.category >= 1 && reply.category <= 7;
    throw Error(known ? static_cast<ErrorCategory>(reply.category) : ErrorCategory::Device,
                reply.texts.empty() ? "the server is out of memory" : reply.texts.front());
  }

  std::uint64_t submit(FileRequest request) {
    request.number = ++last_;
    const std::uint64_t bytes =
        request.data.size() + (request.action == FileAction::Read ? request.bytes : 0);
    waiting_.push_back({last_, request.offset, bytes});
    waiting_bytes_ += bytes;
    connections_.send(encode_request(request));
    return last_;
  }

  /// Waits for the reply to the first request that has none, and throws its error.
  Taken take() {
    const Waiting first = waiting_.front();
    FileReply reply;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !replies_.empty() || !lost_.empty(); });
      if (replies_.empty()) throw_lost();
      reply = std::move(replies_.front());
      replies_.pop_front();
    }
    if (reply.number != first.number) malformed();
    waiting_.pop_front();
    waiting_bytes_ -= first.bytes;
    if (reply.answer != FileAnswer::Done) forget_waiting();
    throw_failure(reply);
    return {first.offset, first.bytes, std::move(reply)};
  }

  /// After a failure, here or at the server: the replies to the other requests of the transfer say
  /// nothing more.
  void forget_waiting() {
    std::unique_lock lock(mutex_);
    while (!waiting_.empty()) {
      changed_.wait(lock, [this] { return !replies_.empty() || !lost_.empty(); });
      if (replies_.empty()) return;
      replies_.pop_front();
      waiting_.pop_front();
    }
    waiting_bytes_ = 0;
  }

  bool has_reply() {
    const std::scoped_lock lock(mutex_);
    return !replies_.empty() || !lost_.empty();
  }

  FileReply call(FileRequest request) {
    forget_waiting();
    submit(std::move(request));
    return take().reply;
  }

  const std::string server_;
  std::uint64_t ahead_;      ///< bytes of chunks that may be on their way
  std::uint64_t early_ = 0;  ///< bytes of these before the first answer of a transfer
  std::uint64_t last_ = 0;
  std::deque<Waiting> waiting_;  ///< requests without a reply
  std::uint64_t waiting_bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FileReply> replies_;  ///< replies that nobody has taken
  std::string lost_;               ///< why the session has ended; empty: it has not
  ClientConnections connections_;  ///< last, because its thread uses the members above
};

}  // namespace

std::unique_ptr<driver::ServerFiles> open_files(const driver::NetworkRequest& request) {
  driver::NetworkRequest of_files = request;
  of_files.files = true;
  return std::make_unique<FileClient>(of_files);
}

}  // namespace gdr::network
