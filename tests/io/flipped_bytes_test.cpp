// Snapshots with a changed byte: each is read, or refused with an error, in bounded time and
// memory. A process of its own reads them, because a defect may end it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "binary_images.hpp"
#include "foreign_file.hpp"
#include "gdr/error.hpp"
#include "libgdr/io/snapshot.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

constexpr unsigned max_seconds = 20;             // for one file
constexpr long max_kilobytes = long{256} << 10;  // more than before the first file

/// The progress of the reading process, in memory shared with its parent.
struct Progress {
  std::size_t next = 0;  ///< index of the current change
  std::size_t read = 0, refused = 0;
  char failure[400] = {};  ///< a failed check that did not end the process; empty if none
};

struct Change {
  std::size_t at;
  unsigned char value;
};

/// The values that each byte is changed to: ends of ranges, and neighbours in one bit.
std::vector<Change> changes(const std::string& image, std::size_t first, std::size_t stride) {
  std::vector<Change> list;
  for (std::size_t at = first; at < image.size(); at += stride) {
    const auto old = static_cast<unsigned char>(image[at]);
    for (const int value : {0x00, 0x7f, 0x80, 0xff, old ^ 0x01, old ^ 0x04, old ^ 0x40, old + 1})
      if (static_cast<unsigned char>(value) != old)
        list.push_back({at, static_cast<unsigned char>(value)});
  }
  return list;
}

long peak_kilobytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// Empty if the file is read correctly or refused with an error about its content, else the
/// failure.
std::string read_one(const std::string& path, Progress& progress) {
  try {
    const Snapshot s = read_snapshot(path);
    const std::size_t n = s.size();
    if (s.position.size() != 3 * n || s.velocity.size() != 3 * n || s.id.size() != n)
      return "quantities of different lengths";
    ++progress.read;
  } catch (const Error& error) {
    const std::string message = error.what();
    if (error.category() != ErrorCategory::Input) return "not an error of the input: " + message;
    if (message.find(path) == std::string::npos) return "no file named: " + message;
    if (message.find("this machine's memory") != std::string::npos) return message;
    ++progress.refused;
  } catch (const std::exception& error) {
    return std::string("an exception leaves the reader: ") + error.what();
  }
  return {};
}

/// Reads the file with each change from `progress.next` on; ends the process.
[[noreturn]] void read_all(const std::string& path, const std::string& image,
                           const std::vector<Change>& list, Progress& progress) {
#if !GDR_ADDRESS_SANITIZER && !GDR_THREAD_SANITIZER
  const rlimit most{rlim_t{4} << 30, rlim_t{4} << 30};
  ::setrlimit(RLIMIT_AS, &most);
#endif
  const rlimit no_dump{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_dump);
  // The parent reports a crash; Catch2's handlers are removed.
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) std::signal(number, SIG_DFL);
  const int file = ::open(path.c_str(), O_WRONLY);
  const long before = peak_kilobytes();
  for (; progress.next < list.size(); ++progress.next) {
    const Change& change = list[progress.next];
    const auto put = [&](char value) {
      if (::pwrite(file, &value, 1, static_cast<off_t>(change.at)) != 1) ::_exit(3);
    };
    put(static_cast<char>(change.value));
    ::alarm(max_seconds);
    std::string failure = read_one(path, progress);
    if (failure.empty() && peak_kilobytes() > before + max_kilobytes)
      failure = "it takes " + std::to_string(peak_kilobytes() / 1024) + " MB";
    if (!failure.empty()) {
      std::strncpy(progress.failure, failure.c_str(), sizeof progress.failure - 1);
      ::_exit(2);
    }
    put(image[change.at]);
  }
  ::_exit(0);
}

struct Report {
  std::size_t read = 0, refused = 0;
  std::vector<std::string> failures;
};

/// Reads the file once for each change, in child processes; a crashed one is replaced.
Report read_changed(const std::string& image, const std::vector<Change>& list) {
  const TemporaryFolder folder;
  Report report;
  void* const shared =
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  auto& progress = *new (shared) Progress;
  while (progress.next < list.size() && report.failures.size() < 20) {
    const std::string path = folder.make("changed.hdf5", image);
    const pid_t child = ::fork();
    if (child == 0) read_all(path, image, list, progress);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    const Change& change = list[progress.next++];
    report.failures.push_back(
        "byte " + std::to_string(change.at) + " set to " + std::to_string(change.value) + ": " +
        (WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) : progress.failure));
  }
  report.read = progress.read;
  report.refused = progress.refused;
  ::munmap(shared, sizeof(Progress));
  return report;
}

void expect_no_failure(const Report& report) {
  for (const std::string& failure : report.failures) UNSCOPED_INFO(failure);
  CHECK(report.failures.empty());
}

/// The distance between changed bytes; 1 with GDR_TEST_FLIPS=all.
std::size_t stride() {
  const char* wish = std::getenv("GDR_TEST_FLIPS");
  return wish != nullptr && std::string(wish) == "all" ? 1 : 37;
}

std::string our_image() {
  const TemporaryFolder folder;
  Snapshot s;
  s.type_counts = {2, 3, 0, 0, 0, 0};
  for (std::uint64_t i = 0; i < 5; ++i) {
    const auto x = static_cast<double>(i);
    s.mass.push_back(1 + x);
    s.position.insert(s.position.end(), {x, -x, 0.5});
    s.velocity.insert(s.velocity.end(), {0.25, x, x / 2});
    s.id.push_back(i + 1);
  }
  s.run = RunState{0, 0.5, 0, 0.1, 1, -1};
  write_snapshot(folder.file("s.hdf5"), s, SnapshotFormat::Hdf5);
  return content_of(folder.file("s.hdf5"));
}

/// Compressed chunks, floats of either byte order, and a mass table, as in files of other codes.
std::string foreign_image() {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.hdf5");
  {
    const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    ForeignFile file(path);
    file.group("Header");
    file.attribute("Header", "NumPart_ThisFile", {0, 3, 0, 0, 0, 0}, H5T_STD_U32LE);
    file.attribute("Header", "MassTable", {0, 0.5, 0, 0, 0, 0}, H5T_IEEE_F64LE);
    file.attribute("Header", "Time", {0.25}, H5T_IEEE_F32BE);
    file.group("PartType1");
    file.doubles("PartType1/Coordinates", {3, 3}, x, H5T_IEEE_F32BE, true);
    file.doubles("PartType1/Velocities", {3, 3}, x, H5T_STD_I16LE);
    file.ids("PartType1/ParticleIDs", {-3, 4, 5}, H5T_STD_I32BE);
  }
  return content_of(path);
}

}  // namespace

TEST_CASE("a changed byte in the type of an attribute is an error") {
  const std::string image =
      content_of(std::string(GDR_SOURCE_DIR) + "/examples/data/plummer_1024.hdf5");
  std::vector<Change> list;
  for (const Change& change : changes(image, 1896, 1))
    if (change.at < 1920) list.push_back(change);
  const Report report = read_changed(image, list);
  expect_no_failure(report);
  CHECK(report.refused > 0);
}

TEST_CASE("a snapshot with a changed byte is read or refused, in bounded time and memory") {
  const BinaryParticles particles;
  for (const std::string& image :
       {our_image(), foreign_image(), gadget_bytes(particles, 1, ByteOrder::Big),
        gadget_bytes(particles, 2, ByteOrder::Little), tipsy_bytes(particles, ByteOrder::Big)}) {
    REQUIRE(image.size() >= 280);
    const Report report = read_changed(image, changes(image, 0, stride()));
    expect_no_failure(report);
    CHECK(report.read > 0);
    CHECK(report.refused > 0);
  }
}

}  // namespace gdr::test
