// The timeline of the link and the chips of a board, and cancellation of a run.
//   c++ -std=c++20 timeline.cpp -lgdr
#include <atomic>
#include <chrono>
#include <cstdio>
#include <gdr/gdr.hpp>
#include <thread>
#include <vector>

int main() {
  try {
    const std::size_t n = 1000;
    std::vector<double> x(3 * n), m(n, 1.0 / n), acc(3 * n), pot(n);
    for (std::size_t i = 0; i < 3 * n; ++i) x[i] = static_cast<double>(i * i % 97) / 97;
    gdr::Device device = gdr::Device::open("emulator");
    gdr::Gravity gravity(device);

    device.record_timeline(true);
    gravity.compute(n, x.data(), m.data(), 0.01, acc.data(), pot.data());
    double end = 0, running = 0;
    for (const gdr::TimelineEvent& event : device.timeline()) {
      if (event.clock == gdr::TimelineClock::Measured) continue;  // of this host
      std::printf("%9.2f to %9.2f us  %-10s %s\n", 1e6 * event.begin, 1e6 * event.end,
                  event.part.c_str(), event.what.c_str());
      if (event.part == "chip 0" && event.what == "run") running += event.end - event.begin;
      end = event.end > end ? event.end : end;
    }
    device.record_timeline(false);
    std::printf("chip 0 computes in %.0f %% of the time\n", 100 * running / end);

    // Another thread interrupts the run: the call throws an error, and the device stays usable.
    const std::size_t many = 200'000;
    std::vector<double> large(3 * many, 0.5), masses(many, 1), none(3 * many), unused(many);
    std::atomic<bool> done = false;
    std::thread impatient([&] {
      while (!done) {  // interrupt only affects work in progress
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        device.interrupt();
      }
    });
    bool stopped = false;
    try {
      gravity.compute(many, large.data(), masses.data(), 0.01, none.data(), unused.data());
    } catch (const gdr::Error& error) {
      stopped = error.category() == gdr::ErrorCategory::Device;
      std::printf("stopped: %s\n", error.what());
    }
    done = true;
    impatient.join();
    gravity.compute(n, x.data(), m.data(), 0.01, acc.data(), pot.data());
    return running > 0 && stopped && pot[0] < 0 ? 0 : 1;
  } catch (const gdr::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
