// Timeline of a device: when the link, the chips and the host are busy.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gdr {

/// Two clocks that run independently: an emulated chip may need more or less time than a real one.
enum class TimelineClock {
  Modelled,  ///< predicted seconds on the real board, whose command lists follow each other at once
  Measured,  ///< seconds on this host since the recording began
};

/// A busy time.
struct TimelineEvent {
  unsigned board = 0;  ///< number of the board; measured: 0 if it is of no board
  /// Busy part. Modelled: "link write", "link read", "chip N", "board" (remote: whole lists).
  /// Measured: "board" (a command list, on an emulated board or in another process), "host" (work
  /// of the library), or a name that the program gives to its own events.
  std::string part;
  std::string what;  ///< modelled: the command; measured: "command list", "convert sources"
  double begin = 0, end = 0;  ///< seconds
  TimelineClock clock = TimelineClock::Modelled;
  unsigned rank = 0;  ///< rank of the process
};

/// The events as the objects of a Chrome trace, separated by commas (no brackets around them): one
/// "process" for each rank and clock, one "thread" for each part. Times become microseconds.
std::string trace_objects(std::span<const TimelineEvent> events);
/// A trace of such objects, of several ranks.
std::string trace_text(std::span<const std::string> objects);
/// Writes a trace that ui.perfetto.dev and chrome://tracing open (Trace Event Format, JSON). Throws
/// Error (Io) if the file cannot be written.
void write_trace(const std::string& path, std::span<const TimelineEvent> events);

}  // namespace gdr
