#include "libgdr/cli/places.hpp"

#include "libgdr/cli/output.hpp"
#include "libgdr/driver/access.hpp"
#include "libgdr/driver/device_node.hpp"

namespace gdr::cli {

std::vector<BoardPlace> board_places() {
  std::vector<BoardPlace> list;
  unsigned number = 0;
  const driver::Bus bus = driver::find_device_nodes();
  for (const driver::Node& node : bus.nodes)
    list.push_back({fmt::format("board:{}", number++), node.address, true});
  for (const std::string& why : bus.unusable) list.push_back({"", why, false});
  const std::string socket = driver::default_socket();
  try {
    const driver::ServerStatus s = driver::query_server(socket);
    list.push_back(
        {"board:unix:" + socket,
         fmt::format("server of {}, {} free, {}", counted(s.boards, "board"), s.free, s.text),
         s.free > 0});
  } catch (const Error&) {  // no server runs
  }
  return list;
}

}  // namespace gdr::cli
