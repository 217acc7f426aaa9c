#include "libgdr/compat/grape/calls.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "gdr/error.hpp"

namespace gdr::compat::grape {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void print_once(const char* function, const char* what) {
  static std::mutex mutex;
  static std::string& last = *new std::string;  // still there when the process ends
  std::string message = std::string("gdr: ") + function + ": " + what + "\n";
  const std::scoped_lock lock(mutex);
  if (message == last) return;
  std::fputs(message.c_str(), stderr);
  last = std::move(message);
}

}  // namespace

int guarded(const char* function, int on_error, const std::function<int()>& body) {
  try {
    return body();
  } catch (const std::exception& e) {
    print_once(function, e.what());
  }
  return on_error;
}

std::shared_ptr<Device> open_device() {
  std::string name(variable("GDR_DEVICE"));
  if (name.empty()) name = variable("GDR_ENGINE").empty() ? "emulator:engine=native" : "emulator";
  if (name.starts_with("mpi"))
    throw Error(ErrorCategory::Unsupported,
                "GDR_DEVICE is \"" + name +
                    "\": devices of several ranks need collective calls; use one device per rank");
  if (name.starts_with("emulator")) return std::make_shared<Device>(Device::open(name));
  static std::mutex mutex;
  static std::weak_ptr<Device>& shared = *new std::weak_ptr<Device>;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<Device> device = shared.lock();
  if (!device) shared = device = std::make_shared<Device>(Device::open(name));
  return device;
}

bool computes_in_floats(const Device& device) {
  return device.statistics().engine.starts_with("native-");
}

int environment_number(const char* name, int otherwise, int least, int most) {
  const std::string_view text = variable(name);
  if (text.empty()) return otherwise;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    throw Error(ErrorCategory::Usage, std::string(name) + " is \"" + std::string(text) +
                                          "\"; must be a number from " + std::to_string(least) +
                                          " to " + std::to_string(most));
  return value;
}

std::size_t checked_count(int count, const char* what) {
  if (count < 0)
    throw Error(ErrorCategory::Usage,
                "the number of " + std::string(what) + " is " + std::to_string(count));
  return static_cast<std::size_t>(count);
}

}  // namespace gdr::compat::grape
