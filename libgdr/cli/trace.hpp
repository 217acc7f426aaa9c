// --trace: the timeline of a command as a file for Perfetto.
#pragma once

#include <string>
#include <vector>

#include "gdr/device.hpp"
#include "gdr/timeline.hpp"

namespace CLI {
class App;
}

namespace gdr::cli {

/// Adds --trace FILE.
void add_trace_option(CLI::App& app, std::string& file);

/// Records the timeline of a device from construction on, if there is a file for it.
class Trace {
 public:
  /// `source` is the input of the command. Throws like check_result_file. Collective.
  Trace(Device& device, std::string file, const std::string& source);
  /// Adds a part of the program to the track `track`; times in seconds of the steady clock.
  void part(const char* track, const char* what, double begin, double end);
  /// Writes the file, with the events of all ranks, and a note about it. Collective: throws the
  /// same Error (Io) on all.
  void write();

 private:
  Device& device_;
  std::string file_;
  std::vector<TimelineEvent> events_;
};

}  // namespace gdr::cli
