// Records of boards and of the host as events of a timeline.
#pragma once

#include <vector>

#include "emulator/board/time_model.hpp"
#include "gdr/timeline.hpp"
#include "libgdr/device/host_spans.hpp"

namespace gdr {

/// Appends the events of a board's lists; `begin`: when the recording began, on the steady clock.
void append_board(std::vector<TimelineEvent>& events, unsigned board,
                  const std::vector<ListRecord>& lists, double begin);
/// Appends what the host did.
void append_host(std::vector<TimelineEvent>& events, const std::vector<HostSpans::Span>& spans,
                 double begin);

}  // namespace gdr
