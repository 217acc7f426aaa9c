#include "libgdr/cli/trace.hpp"

#include <utility>

#include "emulator/host/stopwatch.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/ranks.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli {

void add_trace_option(CLI::App& app, std::string& file) {
  add_text(app, "--trace", file, "FILE",
           "write when host, ranks, links and chips are busy, for ui.perfetto.dev");
}

Trace::Trace(Device& device, std::string file, const std::string& source)
    : device_(device), file_(std::move(file)) {
  if (file_.empty()) return;
  on_all_ranks([&] {
    if (is_first_rank()) check_result_file("--trace", file_, source);
  });
  device_.record_timeline(true);
}

void Trace::part(const char* track, const char* what, double begin, double end) {
  if (file_.empty()) return;
  const double start = steady_seconds() - device_.timeline_seconds();
  events_.push_back(
      {0, track, what, begin - start, end - start, TimelineClock::Measured, device_.rank()});
}

void Trace::write() {
  if (file_.empty()) return;
  std::vector<TimelineEvent> events = device_.timeline();
  events.insert(events.end(), events_.begin(), events_.end());
  const std::vector<std::string> ranks = texts_of_ranks(trace_objects(events));
  on_all_ranks([&] {
    if (!is_first_rank()) return;
    write_file_atomically(file_, trace_text(ranks));
    note(fmt::format("gdr: the trace is in {}, with {} of this rank", file_,
                     counted(events.size(), "event")));
  });
}

}  // namespace gdr::cli
