#include "libgdr/ranks/arrivals.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "libgdr/ranks/share.hpp"

namespace gdr {
namespace {

/// Less than this needs no thread: it is there before one runs.
constexpr std::size_t worth_a_thread = std::size_t{1} << 17;
/// Pieces that travel at the same time.
constexpr std::size_t at_once = 2;

bool overlap_is_off() {
  const char* const text = std::getenv("GDR_MPI_OVERLAP");
  return text != nullptr && std::string(text) == "0";
}

}  // namespace

void Arrivals::add(IndexRange sources, std::size_t bytes, Start start) {
  pieces_.push_back({sources, std::move(start)});
  bytes_ += bytes;
}

/// Begin all pieces before `end` that have not set out.
void Arrivals::set_out(std::size_t end) {
  for (; begun_ < end; ++begun_) pieces_[begun_].pending = pieces_[begun_].start();
}

/// Under the lock: all pieces before `end` are there.
void Arrivals::wait_until(std::size_t end) {
  set_out(end);
  for (std::size_t k = 0; k < end; ++k) {
    Piece& piece = pieces_[k];
    if (piece.there) continue;
    piece.pending->wait();
    piece.pending.reset();
    piece.there = true;
    seconds_ = since_.seconds();
  }
}

void Arrivals::begin(bool any_thread) {
  const Stopwatch timer;
  const bool off = overlap_is_off(), help = any_thread && bytes_ >= worth_a_thread;
  if (!off && !help) set_out(pieces_.size());
  wait_until(off ? pieces_.size() : std::min<std::size_t>(1, pieces_.size()));
  waiting_ += timer.seconds();
  if (off || !help) return;
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
  } catch (const std::system_error&) {
    set_out(pieces_.size());
  }
}

/// Look after what travels, and send more after it; true when everything is there.
bool Arrivals::help() {
  std::size_t under_way = 0;
  for (std::size_t k = 0; k < pieces_.size() && under_way < at_once; ++k) {
    set_out(k + 1);
    Piece& piece = pieces_[k];
    if (piece.there) continue;
    piece.there = piece.pending->test();
    under_way += piece.there ? 0 : 1;
    if (!piece.there) continue;
    piece.pending.reset();
    seconds_ = since_.seconds();
  }
  return under_way == 0;
}

void Arrivals::follow(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      const std::scoped_lock lock(mutex_);
      try {
        if (help()) return;
      } catch (...) {
        error_ = std::current_exception();
        return;
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void Arrivals::wait_for(IndexRange sources) {
  const Stopwatch timer;
  const std::scoped_lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  std::size_t end = 0;
  for (std::size_t k = 0; k < pieces_.size(); ++k)
    if (intersection(pieces_[k].sources, sources).count > 0) end = k + 1;
  wait_until(end);
  help();
  waiting_ += timer.seconds();
}

void Arrivals::finish() {
  {
    const Stopwatch timer;
    const std::scoped_lock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    wait_until(pieces_.size());
    waiting_ += timer.seconds();
  }
  stop();
}

void Arrivals::stop() noexcept {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

}  // namespace gdr
