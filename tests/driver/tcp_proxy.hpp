// A TCP proxy in this process that can break its connections, for tests.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "libgdr/driver/file.hpp"

namespace driver_test {

class TcpProxy {
 public:
  /// Listens at a free port of 127.0.0.1 and forwards to `port` there.
  explicit TcpProxy(unsigned port);
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;
  ~TcpProxy();

  unsigned port() const noexcept { return port_; }
  /// Resets all connections; data on their way are lost.
  void cut();
  /// Refuses new connections, or accepts them again.
  void refuse(bool on) noexcept { refuse_ = on; }
  /// Bytes forwarded so far.
  std::uint64_t bytes() const noexcept { return bytes_; }
  unsigned connections() const noexcept { return connections_; }
  /// What was forwarded first, in both directions.
  std::string first_bytes() {
    const std::scoped_lock lock(mutex_);
    return first_bytes_;
  }

 private:
  struct Link {
    gdr::driver::File a, b;
    std::thread forward, back;
  };
  void run();
  void pump(int from, int to);

  const unsigned target_;
  unsigned port_ = 0;
  gdr::driver::File listener_;
  std::mutex mutex_;
  std::list<Link> links_;
  std::string first_bytes_;
  std::atomic<bool> refuse_ = false, ended_ = false;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<unsigned> connections_ = 0;
  std::thread thread_;
};

/// Connects to a port of 127.0.0.1; an empty file on failure.
gdr::driver::File connect_tcp(unsigned port);

}  // namespace driver_test
