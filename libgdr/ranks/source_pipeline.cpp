#include "libgdr/ranks/source_pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include "emulator/host/threads.hpp"
#include "libgdr/ranks/distribution.hpp"

namespace gdr {
namespace {

/// Smaller transfers complete before a thread starts.
constexpr std::size_t min_bytes_for_thread = std::size_t{1} << 17;
constexpr std::size_t max_in_flight = 2;

bool overlap_is_off() {
  const char* const text = std::getenv("GDR_MPI_OVERLAP");
  return text != nullptr && std::string(text) == "0";
}

}  // namespace

void SourcePipeline::add(IndexRange sources, std::size_t bytes, Start start) {
  chunks_.push_back({sources, std::move(start)});
  bytes_ += bytes;
}

/// Starts the transfers of all chunks before `end`.
void SourcePipeline::start_until(std::size_t end) {
  for (; started_ < end; ++started_) chunks_[started_].pending = chunks_[started_].start();
}

/// Waits for all chunks before `end`; the lock must be held.
void SourcePipeline::wait_until(std::size_t end) {
  start_until(end);
  for (std::size_t k = 0; k < end; ++k) {
    Chunk& chunk = chunks_[k];
    if (chunk.arrived) continue;
    chunk.pending->wait();
    chunk.pending.reset();
    chunk.arrived = true;
    seconds_ = since_.seconds();
  }
}

void SourcePipeline::begin(bool any_thread) {
  const Stopwatch timer;
  const bool overlap_off = overlap_is_off(),
             use_thread = any_thread && bytes_ >= min_bytes_for_thread;
  if (!overlap_off && !use_thread) start_until(chunks_.size());
  wait_until(overlap_off ? chunks_.size() : std::min<std::size_t>(1, chunks_.size()));
  waiting_ += timer.seconds();
  if (overlap_off || !use_thread) return;
  thread_ = start_thread([this](const std::stop_token& stop) { progress_loop(stop); });
  if (!thread_.joinable()) start_until(chunks_.size());
}

/// Tests the transfers in flight and starts further ones; returns whether all are complete.
bool SourcePipeline::progress() {
  std::size_t in_flight = 0;
  for (std::size_t k = 0; k < chunks_.size() && in_flight < max_in_flight; ++k) {
    start_until(k + 1);
    Chunk& chunk = chunks_[k];
    if (chunk.arrived) continue;
    chunk.arrived = chunk.pending->test();
    in_flight += chunk.arrived ? 0 : 1;
    if (!chunk.arrived) continue;
    chunk.pending.reset();
    seconds_ = since_.seconds();
  }
  return in_flight == 0;
}

void SourcePipeline::progress_loop(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      const std::scoped_lock lock(mutex_);
      try {
        if (progress()) return;
      } catch (...) {
        error_ = std::current_exception();
        return;
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void SourcePipeline::wait_for(IndexRange sources) {
  const Stopwatch timer;
  const std::scoped_lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  std::size_t end = 0;
  for (std::size_t k = 0; k < chunks_.size(); ++k)
    if (intersection(chunks_[k].sources, sources).count > 0) end = k + 1;
  wait_until(end);
  progress();
  waiting_ += timer.seconds();
}

void SourcePipeline::finish() {
  {
    const Stopwatch timer;
    const std::scoped_lock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    wait_until(chunks_.size());
    waiting_ += timer.seconds();
  }
  stop();
}

void SourcePipeline::stop() noexcept {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

}  // namespace gdr
