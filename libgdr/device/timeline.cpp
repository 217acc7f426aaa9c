// The timeline of a device, from the records of its boards.
#include "gdr/timeline.hpp"

#include <array>
#include <string_view>

#include "gdr/device.hpp"
#include "libgdr/device/core.hpp"

namespace gdr {
namespace {

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

/// Appends the records of consecutive lists, with host events for the gaps.
void append(std::vector<TimelineEvent>& events, unsigned board,
            const std::vector<ListRecord>& lists) {
  double now = 0;
  for (std::size_t k = 0; k < lists.size(); ++k) {
    const ListRecord& list = lists[k];
    if (k > 0) {
      const double gap = list.host_begin - lists[k - 1].host_end;
      events.push_back({board, "host", "between lists", now, now + gap});
      now += gap;
    }
    for (const BusyTime& busy : list.busy)
      events.push_back({board, part_name(busy),
                        std::string(command_names[static_cast<std::size_t>(busy.command)]),
                        now + busy.begin, now + busy.end});
    now += list.seconds;
  }
}

}  // namespace

void Device::record_timeline(bool on) {
  const std::shared_ptr<DeviceCore> device = core();
  Work work;  // a background test may be using the boards
  work.body = [&](const std::stop_token&) {
    for (BoardSlot& slot : device->boards) slot.board->record(on);
  };
  device->queue.run(work);
}

std::vector<TimelineEvent> Device::timeline() const {
  const std::shared_ptr<DeviceCore> device = core();
  std::vector<TimelineEvent> events;
  Work work;
  work.body = [&](const std::stop_token&) {
    unsigned number = 0;
    for (BoardSlot& slot : device->boards) append(events, number++, slot.board->recorded());
  };
  device->queue.run(work);
  return events;
}

}  // namespace gdr
