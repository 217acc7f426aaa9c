#include "gpu/fake_cuda/programs.hpp"

#include <deque>
#include <mutex>
#include <sstream>

#include "emulator/host/gpu/backend.hpp"

namespace gdr::test::fake_cuda {
namespace {

std::mutex mutex;
/// A deque, so that programs stay where they are.
std::deque<Compiled>& programs() {
  static auto* const all = new std::deque<Compiled>;
  return *all;
}

}  // namespace

std::shared_ptr<gpu::Device> opencl_device() {
  static const auto* const device = [] {
    const bool any = !gpu::opencl_backend.devices().empty();
    return new std::shared_ptr<gpu::Device>(any ? gpu::opencl_backend.open(0) : nullptr);
  }();
  return *device;
}

std::string keep(const Compiled& compiled, const std::string& target) {
  const std::scoped_lock lock(mutex);
  programs().push_back(compiled);
  return "image " + target + " " + std::to_string(programs().size() - 1);
}

const Compiled* program_of(const std::string& image, std::string& target) {
  std::istringstream words(image);
  std::string first;
  std::size_t number = 0;
  if (!(words >> first >> target >> number) || first != "image") return nullptr;
  const std::scoped_lock lock(mutex);
  return number < programs().size() ? &programs()[number] : nullptr;
}

}  // namespace gdr::test::fake_cuda
