#include "libgdr/network/client.hpp"

#include <algorithm>
#include <utility>

#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"
#include "emulator/port/loaded_program.hpp"
#include "gdr/error.hpp"

namespace gdr::network {
namespace {

constexpr std::size_t max_unanswered = 200;

using driver::device_error;

}  // namespace

NetworkLink::NetworkLink(const driver::NetworkRequest& request)
    : connections_(request, {.message = [this](Bytes&& m) { handle(decode_reply(m)); },
                             .urgent = {},
                             .end =
                                 [this](const std::string& reason) {
                                   {
                                     const std::scoped_lock lock(mutex_);
                                     if (lost_.empty()) lost_ = reason;
                                   }
                                   connections_.signal();
                                 }}) {
  const Welcome w = connections_.open();
  identity_ = {w.geometry, get_text(w.engine), get_text(w.isa), w.capabilities};
  name_ = get_text(w.board) + " at " + request.server.text();
  max_bytes_ = w.max_bytes;
  programs_.chips.resize(identity_.geometry.chips_per_board);
}

NetworkLink::~NetworkLink() = default;

/// Waits for a change, and stops the board at the server on request.
void NetworkLink::wait_until(std::unique_lock<std::mutex>& lock, const std::stop_token& stop,
                             const std::function<bool()>& done) {
  const auto request_stop = [this] {
    std::uint64_t last = 0;
    {
      const std::scoped_lock lock_last(mutex_);
      last = last_;
    }
    connections_.send_urgent(last);
  };
  const auto ready = [&] { return done() || failure_ || !lost_.empty(); };
  if (ready()) return;
  lock.unlock();
  {
    // The callback may run here, if the stop has been requested already.
    const std::stop_callback callback(stop, request_stop);
    connections_.wait([&] {
      const std::scoped_lock lock_ready(mutex_);
      return ready();
    });
  }
  lock.lock();
}

/// Ignores the replies to all lists so far. The server skips those that follow a failure, or a stop
/// request, until the next list resumes.
void NetworkLink::ignore_submitted() noexcept {
  failure_.reset();
  ignored_ = last_;
  replies_.clear();
  started_.clear();
  resume_ = true;
}

/// The server may still stop lists, or report errors of lists, whose results nobody awaits.
void NetworkLink::discard_started() noexcept {
  const std::scoped_lock lock(mutex_);
  if (failure_ && failure_->status == ReplyStatus::Lost) lost_ = failure_->message;
  ignore_submitted();
}

/// Throws the failure of an earlier list, or that the board is lost.
void NetworkLink::throw_failure(std::unique_lock<std::mutex>&) {
  if (!failure_) {
    throw driver::BoardFailure(name_ + ": " + lost_);
  }
  const Reply reply = std::move(*failure_);
  ignore_submitted();
  if (reply.status == ReplyStatus::Cancelled) throw Cancelled();
  if (reply.status == ReplyStatus::Lost) {
    lost_ = reply.message;
    throw driver::BoardFailure(name_ + ": " + reply.message);
  }
  const bool known = reply.category >= 1 && reply.category <= 7;
  throw Error(known ? static_cast<ErrorCategory>(reply.category) : ErrorCategory::Device,
              reply.message);
}

/// Sends a list.
NetworkLink::Submitted NetworkLink::submit(const CommandList& list, std::uint32_t flags,
                                           const std::stop_token& stop) {
  if (stop.stop_requested()) throw Cancelled();
  std::vector<std::uint64_t> payload_words;
  Unanswered entry;
  entry.has_results = (flags & list_wait) != 0;
  for (const Command& c : list.commands) {
    const std::span<const std::uint64_t> payload = list.words_from(c.payload);
    std::uint64_t words = payload_length(c, programs_.of(c));
    if (words > payload.size()) words = 0;  // the board rejects the command
    payload_words.push_back(words);
    if (c.kind == CommandKind::LoadProgram)
      programs_.load(c, driver::object_timing(payload.first(words), c.count, identity_.geometry));
    if (result_length(c, programs_.of(c)) > 0) entry.has_results = true;
    if (entry.main_command != CommandKind::Run) entry.main_command = c.kind;
  }
  std::unique_lock lock(mutex_);
  if (failure_ || !lost_.empty()) throw_failure(lock);
  if (std::exchange(resume_, false)) flags |= list_resume;
  if (std::exchange(reset_counts_, false)) flags |= list_reset_counts;
  const std::uint64_t number = ++last_;
  lock.unlock();
  Bytes message;
  {
    const AddElapsed timer(transfer_seconds_);
    message = encode_list(number, flags, list, payload_words);
  }
  entry.number = number;
  entry.bytes = message.size();
  lock.lock();
  if (entry.bytes > max_bytes_) {
    // The next list has these flags instead.
    resume_ = resume_ || (flags & list_resume) != 0;
    reset_counts_ = reset_counts_ || (flags & list_reset_counts) != 0;
    throw device_error(name_ + ": a command list of " + std::to_string(entry.bytes) +
                       " bytes exceeds the " + std::to_string(max_bytes_) +
                       " bytes that the server accepts; raise them with gdr serve --memory");
  }
  wait_until(lock, stop, [&] {
    return unanswered_.size() < max_unanswered && unanswered_bytes_ + entry.bytes <= max_bytes_;
  });
  if (failure_ || !lost_.empty()) throw_failure(lock);
  unanswered_bytes_ += entry.bytes;
  entry.submitted_seconds = steady_seconds();
  unanswered_.push_back(entry);
  lock.unlock();
  connections_.send(std::move(message));
  return {number, entry.has_results};
}

/// Waits for the reply of a list with results, or to one that waits.
Reply NetworkLink::await(std::uint64_t number, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  wait_until(lock, stop, [&] { return replies_.contains(number); });
  if (const auto found = replies_.find(number); found != replies_.end() && !failure_) {
    Reply reply = std::move(found->second);
    replies_.erase(found);
    complete_ = std::max(complete_, number);
    return reply;
  }
  throw_failure(lock);
}

void NetworkLink::execute(const CommandList& list, std::vector<std::uint64_t>& results,
                          const std::stop_token& stop) {
  results.clear();
  const Submitted sent = submit(list, 0, stop);
  if (sent.has_results) results = await(sent.number, stop).results;
}

void NetworkLink::start(const CommandList& list, const std::stop_token& stop) {
  const Submitted sent = submit(list, 0, stop);
  const std::scoped_lock lock(mutex_);
  started_.push_back(sent);
}

void NetworkLink::finish(std::vector<std::uint64_t>& results, const std::stop_token& stop) {
  Submitted sent;
  {
    std::unique_lock lock(mutex_);
    if (started_.empty()) throw_failure(lock);
    sent = started_.front();
  }
  results.clear();
  if (sent.has_results) results = await(sent.number, stop).results;
  const std::scoped_lock lock(mutex_);
  started_.pop_front();
}

void NetworkLink::wait_for_completion() {
  {
    std::unique_lock lock(mutex_);
    if (complete_ == last_ && !failure_ && lost_.empty()) return;
  }
  await(submit({}, list_wait, {}).number, {});
}

/// Handles a reply of the server, in the thread that has the turn of the event loop.
void NetworkLink::handle(Reply reply) {
  record_reply(std::move(reply));
  connections_.signal();
}

void NetworkLink::record_reply(Reply reply) {
  const std::scoped_lock lock(mutex_);
  // Replies are in the order of their lists.
  if (unanswered_.empty() || unanswered_.front().number != reply.number) {
    lost_ =
        "its server answers a list that was not sent; use a library and a server of the same "
        "release";
    return;
  }
  const Unanswered list = unanswered_.front();
  unanswered_.pop_front();
  unanswered_bytes_ -= list.bytes;
  if (reply.status != ReplyStatus::Skipped) apply(reply, list);
  if (reply.status == ReplyStatus::Lost && reply.number <= ignored_ && lost_.empty())
    lost_ = reply.message;
  if (reply.number > ignored_ && !failure_) {
    if (reply.status != ReplyStatus::Done)
      failure_ = std::move(reply);
    else if (list.has_results)
      replies_.emplace(list.number, std::move(reply));
  }
}

/// Updates counters and timeline.
void NetworkLink::apply(const Reply& reply, const Unanswered& list) {
  if (records_ && list.main_command != CommandKind{}) {
    ListRecord& record = recorded_.emplace_back();
    record.host_begin = list.submitted_seconds;
    if (recorded_.size() > 1)
      record.host_begin = std::max(record.host_begin, recorded_.end()[-2].host_end);
    record.host_end =
        std::min(steady_seconds(), record.host_begin + reply.busy_seconds - busy_seconds_);
    record.seconds = std::max(0.0, reply.counts.predicted_seconds - counts_.predicted_seconds);
    record.busy = {{BusyPart::Board, 0, list.main_command, 0, record.seconds}};
  }
  counts_ = reply.counts;
  engine_stats_ = reply.engine;
  busy_seconds_ = reply.busy_seconds;
}

WorkCounts NetworkLink::counts() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

void NetworkLink::reset_counts() {
  const std::scoped_lock lock(mutex_);
  reset_counts_ = true;
  counts_ = {};
}

EngineStats NetworkLink::engine_stats() const {
  const std::scoped_lock lock(mutex_);
  return engine_stats_;
}

bool NetworkLink::multiplies_all_bits() const noexcept {
  return (identity_.capabilities & capability_all_bits) != 0;
}

LinkTimes NetworkLink::times() const {
  const std::scoped_lock lock(mutex_);
  return {transfer_seconds_, busy_seconds_};
}

std::vector<StreamStatistics> NetworkLink::streams() const {
  std::vector<StreamStatistics> all = connections_.streams();
  for (StreamStatistics& s : all) s.board = name_;
  return all;
}

void NetworkLink::record(bool on) {
  wait_for_completion();
  const std::scoped_lock lock(mutex_);
  BoardLink::record(on);
}

}  // namespace gdr::network
