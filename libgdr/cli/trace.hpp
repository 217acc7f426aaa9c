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
  /// Throws Error (Io) if the file cannot be written. Collective.
  Trace(Device& device, std::string file);
  /// Adds the beginning, then the end of a part of the program, which the track `track` shows.
  void part(const char* track, const char* what, bool begins);
  /// Writes the file, with the events of all ranks. Collective.
  void write();

 private:
  Device& device_;
  std::string file_;
  double begin_ = 0;  ///< of the present part
  std::vector<TimelineEvent> events_;
};

}  // namespace gdr::cli
