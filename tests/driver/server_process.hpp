// A board server in a process of its own, for tests.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "gdr/gdr.hpp"
#include "support/text.hpp"

namespace driver_test {

using gdr::test::contains;

/// A small geometry that supports matrix products.
inline const std::string small_machine = "chips=2,blocks=2,pes=32";

class ServerProcess {
 public:
  /// Starts `gdr serve` with `options` on `socket` (empty: a temporary one) and waits until it is
  /// ready. Throws std::runtime_error if it is not.
  explicit ServerProcess(const std::vector<std::string>& options = {},
                         const std::string& socket = "");
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& socket() const { return socket_; }
  /// The device name of the server, with options such as "timeout=2,self_test=0".
  std::string device(const std::string& options = "") const;
  /// The first line that the server printed.
  const std::string& greeting() const { return greeting_; }
  pid_t process() const { return process_; }
  /// The processes that it has started, the first one first.
  std::vector<std::string> children() const;
  void signal(int number) const;
  /// Waits for the end of the process. Returns its exit status, or minus the terminating signal.
  int wait();
  std::string log() const;

 private:
  std::string folder_, socket_, greeting_;
  pid_t process_ = -1;
};

/// Runs the test kernel on `targets` targets. Returns both result arrays, concatenated.
std::vector<double> forces(gdr::Device& device, std::size_t targets, std::size_t sources,
                           unsigned seed = 1);

/// The same on an emulated board in this process with the small geometry.
std::vector<double> expected_forces(std::size_t targets, std::size_t sources, unsigned seed = 1);

/// The message of the gdr::Error thrown by a call, or "no error".
template <typename Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const gdr::Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace driver_test
