// The timeline of a device, and its form as a Chrome trace.
#include "gdr/timeline.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <vector>

#include "emulator/host/parse_number.hpp"
#include "libgdr/device/timeline.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr {
namespace {

using Json = nlohmann::ordered_json;

/// Names by CommandKind, which counts from 1.
constexpr std::array<std::string_view, 8> command_names{
    "",    "load program", "write memory", "write targets", "write param",
    "run", "read targets", "read memory"};

std::string part_name(const BusyTime& busy) {
  switch (busy.part) {
    case BusyPart::LinkWrite:
      return "link write";
    case BusyPart::LinkRead:
      return "link read";
    case BusyPart::Board:
      return "board";
    case BusyPart::Chip:
      break;
  }
  return "chip " + std::to_string(busy.chip);
}

/// A process of the trace: a clock of a rank, and of the modelled ones a board.
using Process = std::tuple<unsigned, TimelineClock, unsigned>;

Process process_of(const TimelineEvent& event) {
  const bool modelled = event.clock == TimelineClock::Modelled;
  return {event.rank, event.clock, modelled ? event.board : 0};
}

std::string process_name(const Process& process) {
  const auto [rank, clock, board] = process;
  const std::string of = "rank " + std::to_string(rank);
  if (clock == TimelineClock::Measured) return of + ", measured on the host";
  return of + ", board " + std::to_string(board) + ", modelled";
}

/// Equal on all ranks that make traces of their own.
unsigned process_number(const Process& process) {
  constexpr unsigned of_rank = 100'000;
  const auto [rank, clock, board] = process;
  return rank * of_rank + (clock == TimelineClock::Measured ? 0 : 1 + board);
}

/// Parts in the order of a picture: what the program names, host, lists of boards, links, chips.
int place_of(std::string_view part) {
  if (part == "host") return 1;
  if (part.starts_with("board")) return 2;
  if (part == "link write") return 3;
  if (part.starts_with("chip ")) {
    part.remove_prefix(5);
    return 4 + take_number<int>(part).value_or(0);
  }
  return part == "link read" ? 1'000'000 : 0;
}

std::string thread_name(const TimelineEvent& event) {
  if (event.clock == TimelineClock::Measured && event.part == "board")
    return "board " + std::to_string(event.board);
  return event.part;
}

}  // namespace

void append_board(std::vector<TimelineEvent>& events, unsigned board,
                  const std::vector<ListRecord>& lists, double begin) {
  double now = 0;
  for (const ListRecord& list : lists) {
    events.push_back({board, "board", "command list", list.host_begin - begin,
                      list.host_end - begin, TimelineClock::Measured});
    for (const BusyTime& busy : list.busy)
      events.push_back({board, part_name(busy),
                        std::string(command_names[static_cast<std::size_t>(busy.command)]),
                        now + busy.begin, now + busy.end});
    now += list.seconds;
  }
}

void append_host(std::vector<TimelineEvent>& events, const std::vector<HostSpans::Span>& spans,
                 double begin) {
  for (const HostSpans::Span& span : spans)
    events.push_back(
        {0, "host", span.what, span.begin - begin, span.end - begin, TimelineClock::Measured});
}

std::string trace_objects(std::span<const TimelineEvent> events) {
  constexpr double microseconds = 1e6;
  std::map<Process, std::map<std::pair<int, std::string>, unsigned>> threads;
  for (const TimelineEvent& event : events) {
    const std::string name = thread_name(event);
    threads[process_of(event)][{place_of(name), name}] = 0;
  }
  std::string text;
  const auto add = [&](const Json& object) {
    if (!text.empty()) text += ",\n";
    text += object.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  const auto describe = [&](const char* what, unsigned process, unsigned thread, const Json& args) {
    add({{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", args}});
  };
  for (auto& [process, of] : threads) {
    const unsigned number = process_number(process);
    describe("process_name", number, 0, {{"name", process_name(process)}});
    describe("process_sort_index", number, 0, {{"sort_index", number}});
    unsigned thread = 0;
    for (auto& [key, assigned] : of) {
      assigned = ++thread;
      describe("thread_name", number, thread, {{"name", key.second}});
      describe("thread_sort_index", number, thread, {{"sort_index", thread}});
    }
  }
  for (const TimelineEvent& event : events) {
    const Process process = process_of(event);
    const std::string name = thread_name(event);
    add({{"name", event.what},
         {"cat", event.clock == TimelineClock::Measured ? "measured" : "modelled"},
         {"ph", "X"},
         {"ts", event.begin * microseconds},
         {"dur", (event.end - event.begin) * microseconds},
         {"pid", process_number(process)},
         {"tid", threads[process][{place_of(name), name}]}});
  }
  return text;
}

std::string trace_text(std::span<const std::string> objects) {
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  const char* between = "";
  for (const std::string& of_rank : objects) {
    if (of_rank.empty()) continue;
    text += between + of_rank;
    between = ",\n";
  }
  return text + "\n]}\n";
}

void write_trace(const std::string& path, std::span<const TimelineEvent> events) {
  const std::string objects = trace_objects(events);
  write_file_atomically(path, trace_text({&objects, 1}));
}

}  // namespace gdr
