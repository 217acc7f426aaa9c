// Every kernel of the library on the engines among floats: in floats, and as accurate as these are.
#include <string>

#include "bench/laws/laws.hpp"
#include "emulator/host/isa.hpp"
#include "gdr/device.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::bench;

TEST_CASE("the engines among floats compute all kernels of the library in floats") {
  for (const Isa isa : host_isas()) {
    if (isa == Isa::Portable) continue;  // the same code, but slow
    for (const std::string engine : {"native-float", "native-mixed"})
      for (const Law& law : laws()) {
        const std::string name = engine + ",isa=" + std::string(isa_name(isa));
        INFO(law.kernel << " on " << name);
        const Sample targets = law.sample(100, 3), sources = law.sample(300, 3);
        const Kernel kernel = Kernel::builtin(law.kernel);
        Device device = Device::open("emulator:engine=" + name);
        const Columns found = run_law(device, kernel, law, targets, sources);
        const std::string reason = device.statistics().fallback_reason;
        INFO(reason);
        CHECK(reason.empty());
        for (const LawError& e : compare(law, found, direct_law(kernel, law, targets, sources))) {
          INFO(e.quantity << ": rms " << e.rms << ", largest " << e.largest);
          CHECK(e.rms < 3e-5);
        }
      }
  }
}
