#include "emulator/board/hardware/descriptor.hpp"

#include <cstddef>
#include <iterator>

namespace gdr {

std::string_view completion_status_text(CompletionStatus status) noexcept {
  constexpr std::string_view texts[] = {"nothing",
                                        "done",
                                        "a command was refused",
                                        "skipped after a failed list",
                                        "the descriptor is invalid",
                                        "the sequence number is not consecutive",
                                        "an address is outside of the memory mapped for the board",
                                        "the checksum of commands or payload is wrong",
                                        "the list has more commands than the maximum of the board",
                                        "the board is out of memory",
                                        "the results did not fit; Resend fetches them",
                                        "the board no longer holds these results",
                                        "stopped by the host"};
  const auto number = static_cast<std::size_t>(status);
  return number < std::size(texts) ? texts[number] : "unknown status";
}

}  // namespace gdr
