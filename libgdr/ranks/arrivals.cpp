#include "libgdr/ranks/arrivals.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <system_error>

#include "libgdr/ranks/share.hpp"

namespace gdr {
namespace {

/// Less than this needs no help: MPIs send it at once.
constexpr std::size_t worth_a_thread = std::size_t{1} << 17;

bool overlap_is_off() {
  const char* const text = std::getenv("GDR_MPI_OVERLAP");
  return text != nullptr && std::string(text) == "0";
}

}  // namespace

void Arrivals::add(IndexRange sources, std::size_t bytes, std::unique_ptr<RankPending> pending) {
  pieces_.push_back({sources, std::move(pending)});
  bytes_ += bytes;
}

void Arrivals::begin(bool any_thread) {
  since_ = Stopwatch();
  if (overlap_is_off()) return finish();
  if (!any_thread || bytes_ < worth_a_thread) return;
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
  } catch (const std::system_error&) {  // slower, then
  }
}

/// One test of everything that is under way; true when nothing is.
bool Arrivals::help() {
  bool all = true;
  for (Piece& piece : pieces_) {
    if (!piece.pending) continue;
    if (piece.pending->test())
      piece.pending.reset();
    else
      all = false;
  }
  if (all && seconds_ == 0) seconds_ = since_.seconds();
  return all;
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

template <typename Wanted>
void Arrivals::wait(const Wanted& wanted) {
  const Stopwatch timer;
  const std::scoped_lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  for (Piece& piece : pieces_) {
    if (!piece.pending || !wanted(piece)) continue;
    piece.pending->wait();
    piece.pending.reset();
  }
  help();
  waiting_ += timer.seconds();
}

void Arrivals::wait_for(IndexRange sources) {
  wait([&](const Piece& piece) { return intersection(piece.sources, sources).count > 0; });
}

void Arrivals::finish() {
  wait([](const Piece&) { return true; });
  stop();
}

void Arrivals::stop() noexcept {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

}  // namespace gdr
