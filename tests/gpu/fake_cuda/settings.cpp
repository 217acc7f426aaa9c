#include "gpu/fake_cuda/settings.hpp"

#include <mutex>
#include <set>
#include <sstream>

namespace gdr::test::fake_cuda {

int injected(const char* function) {
  static std::mutex mutex;
  static std::string last;
  static std::set<std::string> done;
  const std::string text = text_setting("GDR_FAKE_CUDA_FAIL");
  const std::scoped_lock lock(mutex);
  if (text != last) done.clear();
  last = text;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const std::size_t equals = item.find('=');
    if (item.substr(0, equals) != function) continue;
    const bool once = item.ends_with("once");
    if (once && !done.insert(item).second) continue;
    if (item.substr(equals + 1) == "abort") std::abort();
    return std::stoi(item.substr(equals + 1));
  }
  return 0;
}

}  // namespace gdr::test::fake_cuda
