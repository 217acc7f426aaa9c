#include "libgdr/network/file_work.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>

#include "emulator/host/threads.hpp"
#include "gdr/error.hpp"
#include "libgdr/driver/job_arguments.hpp"
#include "libgdr/network/file_chunks.hpp"
#include "libgdr/network/file_messages.hpp"
#include "libgdr/network/job_process.hpp"
#include "libgdr/network/offered_files.hpp"

namespace gdr::network {
namespace {

using driver::ArgumentKind;
using driver::NetworkServerOptions;
using driver::ServerFile;

constexpr std::size_t max_queued = 4096;
/// Before a reply for which there was no memory is tried again.
constexpr std::chrono::milliseconds memory_wait{10};
/// Least size of messages of a session: some chunks.
constexpr std::uint64_t min_message_bytes = 8 * chunk_bytes;
/// Jobs of all sessions at once; each also waits for a board.
constexpr int max_jobs = 64;
std::atomic<int> running_jobs = 0;

struct JobPlace {
  bool taken = running_jobs.fetch_add(1) < max_jobs;
  JobPlace() = default;
  JobPlace(const JobPlace&) = delete;
  JobPlace& operator=(const JobPlace&) = delete;
  ~JobPlace() { --running_jobs; }
};

const std::string& first_text(const FileRequest& request) {
  if (request.texts.empty()) throw Error(ErrorCategory::Device, "a request names no file");
  return request.texts.front();
}

class FileWork final : public SessionWork {
 public:
  FileWork(const NetworkServerOptions& options, std::string client,
           std::function<void(Bytes)> reply)
      : options_(options),
        client_(std::move(client)),
        send_(std::move(reply)),
        files_(std::in_place, options.files),
        thread_(start_thread([this] { run(); })) {
    if (!thread_.joinable())
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  ~FileWork() override {
    end();
    thread_.join();
  }

  bool add(Bytes message) override {
    const std::scoped_lock lock(mutex_);
    bytes_ += message.size();
    if (messages_.size() >= max_queued || bytes_ > max_bytes_) return false;
    messages_.push_back(std::move(message));
    changed_.notify_all();
    return true;
  }
  void received(std::uint64_t bytes) override {
    const std::scoped_lock lock(mutex_);
    unreceived_ -= std::min(unreceived_, bytes);
    changed_.notify_all();
  }
  void stop(std::uint64_t number) override {
    const std::scoped_lock lock(mutex_);
    stopped_ = std::max(stopped_, number);
    if (job_ && running_ <= stopped_) job_->interrupt();
  }
  void end() override {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    if (job_) job_->end();
    changed_.notify_all();
  }
  bool finished() const noexcept override { return finished_; }

 private:
  void run() {
    for (;;) {
      Bytes message;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return ended_ || !messages_.empty(); });
        if (ended_) break;
        message = std::move(messages_.front());
        messages_.pop_front();
        bytes_ -= message.size();
      }
      respond(message);
    }
    // Here and not in the destructor, which the thread of the connections calls: other clients must
    // not wait for a slow file system.
    arriving_.reset();
    opened_.reset();
    files_.reset();
    finished_ = true;
  }

  /// Sends a reply, once the client has received enough of the others.
  void send(Bytes message) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ended_ || unreceived_ <= max_unreceived_; });
      unreceived_ += message.size();
    }
    send_(std::move(message));
  }

  /// Answers a request. If there is no memory for that, the reply is a failure without a text,
  /// which is small.
  void respond(const Bytes& message) {
    FileReply reply;
    try {
      answer(message, reply);
      return send(encode_file_reply(reply));
    } catch (const std::bad_alloc&) {
      FileReply failure;
      failure.number = reply.number;
      failure.answer = FileAnswer::Failed;
      failure.category = static_cast<std::uint32_t>(ErrorCategory::Device);
      reply = std::move(failure);
    }
    for (;;) {
      try {
        return send(encode_file_reply(reply));
      } catch (const std::bad_alloc&) {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, memory_wait, [this] { return ended_; })) return;
      }
    }
  }

  /// Throws std::bad_alloc, but no other exception.
  void answer(const Bytes& message, FileReply& reply) {
    const auto fail = [&](ErrorCategory category, const std::string& what) {
      reply.answer = FileAnswer::Failed;
      reply.category = static_cast<std::uint32_t>(category);
      reply.texts = {what};
    };
    try {
      const FileRequest request = decode_request(message);
      reply.number = request.number;
      reply.answer = FileAnswer::Done;
      handle(request, reply);
    } catch (const Error& e) {
      fail(e.category(), e.what());
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      fail(ErrorCategory::Internal, e.what());
    }
  }

  void handle(const FileRequest& request, FileReply& reply) {
    switch (request.action) {
      case FileAction::Status:
        return status(first_text(request), reply);
      case FileAction::List:
        for (const ServerFile& file : files_->list(first_text(request))) {
          reply.texts.push_back(file.name);
          reply.sums.push_back(file.bytes << 1 | (file.folder ? 1 : 0));
        }
        return;
      case FileAction::Sums:
        return sums(opened(first_text(request)), reply);
      case FileAction::Read:
        return read(opened(first_text(request)), request, reply);
      case FileAction::Create:
        arriving_.reset();  // a second one of the same name would be locked
        arriving_ = files_->create(first_text(request), request.bytes);
        reply.sums = arriving_->sums();
        return;
      case FileAction::Write:
        return arriving().write(request.offset, request.data, request.checksum);
      case FileAction::Commit:
        arriving().commit(request.checksum);
        arriving_.reset();
        return;
      case FileAction::Run:
        return run_job(request, reply);
    }
    throw Error(ErrorCategory::Unsupported,
                "the server does not know this request; use a server of the same release");
  }

  ArrivingFile& arriving() {
    if (!arriving_) throw Error(ErrorCategory::Device, "no file arrives in this session");
    return *arriving_;
  }

  /// The file of the last status, which stays open while its chunks are read.
  const OpenedFile& opened(const std::string& name) {
    if (!opened_ || opened_->name != name) opened_ = files_->open(name);
    return *opened_;
  }

  void status(const std::string& name, FileReply& reply) {
    opened_.reset();
    const ServerFile file = files_->status(name);
    reply.texts = {file.name};
    reply.bytes = file.bytes;
    reply.sums = {file.exists, file.folder};
    if (file.exists && !file.folder) reply.version = opened(name).version;
  }

  void sums(const OpenedFile& file, FileReply& reply) {
    for (std::uint64_t k = 0; k < chunk_count(file.bytes); ++k) {
      reply.sums.push_back(chunk_checksum(read_chunk(file.file, k, file.bytes, file.name)));
    }
    reply.version = version_of(file.file);
  }

  void read(const OpenedFile& file, const FileRequest& request, FileReply& reply) {
    // The client may not know the size yet.
    const std::uint64_t rest = file.bytes - std::min(request.offset, file.bytes);
    reply.data.resize(std::min({request.bytes, chunk_bytes, rest}));
    read_bytes(file.file, request.offset, reply.data, file.name);
    reply.checksum = chunk_checksum(reply.data);
    reply.version = version_of(file.file);
  }

  void run_job(const FileRequest& request, FileReply& reply) {
    const std::string& device_options = first_text(request);
    const std::span job(request.texts.begin() + 1, request.texts.end());
    for (const driver::GivenArgument& given : driver::parse_job(job))
      if (names_file(given.argument->kind, given.value)) check(given);
    const JobPlace place;
    if (!place.taken)
      throw Error(ErrorCategory::Device, "the server runs its maximum of " +
                                             std::to_string(max_jobs) + " jobs; try again later");
    // `gdr job` confines itself to the two folders before it runs the command.
    const driver::OfferedFolder& offered = options_.files;
    std::vector<std::string> arguments = {
        "gdr",
        "job",
        "--parent=" + std::to_string(getpid()),
        "--folder=" + files_->session_folder(),
        "--offered=" + offered.path,
        "--limit=" + std::to_string(offered.max_bytes),
        "--device=board:unix:" + std::filesystem::absolute(options_.socket).string() +
            (device_options.empty() ? "" : ",") + device_options};
    if (offered.writable) arguments.emplace_back("--writable");
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), job.begin(), job.end());
    std::string line = "gdr";
    for (const std::string& text : job) line += ' ' + text;
    options_.log("a job of " + client_ + " runs: " + line);
    JobProcess process;
    {
      const std::scoped_lock lock(mutex_);
      if (ended_ || request.number <= stopped_)
        throw Error(ErrorCategory::Device, "the job was stopped");
      job_ = &process;
      running_ = request.number;
    }
    const auto output = [&](bool error_stream, std::string_view text) {
      FileReply part;
      part.number = request.number;
      part.answer = error_stream ? FileAnswer::ErrorOutput : FileAnswer::Output;
      part.texts.emplace_back(text);
      send(encode_file_reply(part));
    };
    const auto release = [&] {
      const std::scoped_lock lock(mutex_);
      job_ = nullptr;
    };
    try {
      reply.bytes = static_cast<std::uint64_t>(process.run(offered.command, arguments, output));
    } catch (...) {
      release();
      throw;
    }
    release();
    options_.log("a job of " + client_ + " has ended with status " + std::to_string(reply.bytes));
  }

  void check(const driver::GivenArgument& given) const {
    const ArgumentKind kind = given.argument->kind;
    if (kind == ArgumentKind::Input || kind == ArgumentKind::Kernel)
      files_->check_input(given.value);
    else
      files_->check_output(given.value);
  }

  const NetworkServerOptions& options_;
  const std::string client_;
  const std::function<void(Bytes)> send_;
  std::optional<OfferedFiles> files_;  ///< removes the session's folder at its end
  std::optional<OpenedFile> opened_;
  std::unique_ptr<ArrivingFile> arriving_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Bytes> messages_;
  std::uint64_t bytes_ = 0;  ///< size of messages that wait, bytes
  const std::uint64_t max_bytes_ = max_file_message_bytes(options_);
  std::uint64_t unreceived_ = 0;  ///< size of replies that the client has not received, bytes
  const std::uint64_t max_unreceived_ = std::min(max_unreceived_bytes, max_bytes_);
  JobProcess* job_ = nullptr;
  std::uint64_t running_ = 0, stopped_ = 0;
  bool ended_ = false;
  std::atomic<bool> finished_ = false;
  HostThread thread_;  ///< last, because it uses the members above
};

}  // namespace

std::uint64_t max_file_message_bytes(const NetworkServerOptions& options) {
  return std::max(options.max_message_bytes, min_message_bytes);
}

std::unique_ptr<SessionWork> make_file_work(const NetworkServerOptions& options,
                                            const std::string& client,
                                            std::function<void(Bytes)> reply) {
  return std::make_unique<FileWork>(options, client, std::move(reply));
}

}  // namespace gdr::network
