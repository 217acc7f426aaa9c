// Atomic replacement of files: full disks, folders, links, devices.
#include "libgdr/io/atomic_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "libgdr/io/snapshot.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

/// During its lifetime files of this process cannot exceed `bytes`, which simulates a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit small{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

Snapshot thousand_particles() {
  Snapshot s;
  s.type_counts = {0, 1000, 0, 0, 0, 0};
  s.position.assign(3000, 1.5);
  s.velocity.assign(3000, 2.5);
  s.mass.assign(1000, 1);
  s.id.assign(1000, 1);
  return s;
}

TEST_CASE("replacing a file is atomic and keeps its permissions") {
  const TemporaryFolder folder;
  const std::string path = folder.make("a", "old");
  ::chmod(path.c_str(), 0640);
  write_file_atomically(path, std::string("new"));
  CHECK(content_of(path) == "new");
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK(folder.names().size() == 1);
}

TEST_CASE("a full disk leaves the old snapshot and no other file") {
  const TemporaryFolder folder;
  const Snapshot snapshot = thousand_particles();
  for (const SnapshotFormat format : {SnapshotFormat::Hdf5, SnapshotFormat::Text}) {
    const std::string path = folder.make("snapshot", "the good old one");
    {
      const FullDisk disk(5000);
      expect_error(ErrorCategory::Io, {path}, [&] { write_snapshot(path, snapshot, format); });
    }
    CHECK(content_of(path) == "the good old one");
    CHECK(folder.names().size() == 1);
    write_snapshot(path, snapshot, format);
    CHECK(read_snapshot(path).size() == 1000);
  }
}

TEST_CASE("writing to a full device is an error") {
  if (::access("/dev/full", W_OK) != 0) return;
  expect_error(ErrorCategory::Io, {"/dev/full", "No space left", "free some space"},
               [] { write_file_atomically("/dev/full", std::string("x")); });
  struct stat status {};
  REQUIRE(::stat("/dev/full", &status) == 0);
  CHECK(S_ISCHR(status.st_mode));
}

TEST_CASE("paths without a writable folder are errors") {
  const TemporaryFolder folder;
  const std::string file = folder.make("file", "x");
  expect_error(ErrorCategory::Io, {"none/a", "No such file"},
               [&] { write_file_atomically(folder.file("none/a"), std::string("x")); });
  expect_error(ErrorCategory::Io, {"directory"},
               [&] { write_file_atomically(folder.path(), std::string("x")); });
  expect_error(ErrorCategory::Io, {"file/sub"}, [&] { make_writable_folder(file + "/sub"); });
  expect_error(ErrorCategory::Io, {file}, [&] { make_writable_folder(file); });
  expect_error(ErrorCategory::Io, {"none/a"}, [&] { check_writable(folder.file("none/a")); });
  make_writable_folder(folder.file("p/q/r"));
  CHECK(std::filesystem::is_empty(folder.file("p/q/r")));
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode;
}

TEST_CASE("private files are new, unpredictable in name and readable by their owner only") {
  const TemporaryFolder folder;
  const mode_t mask = ::umask(0);
  const std::string a = write_private_file(folder.path(), "state-", ".txt", std::string("one"));
  const std::string b = write_private_file(folder.path(), "state-", ".txt", std::string("two"));
  ::umask(mask);
  CHECK(a != b);
  CHECK(content_of(a) == "one");
  CHECK(content_of(b) == "two");
  CHECK(mode_of(a) == (S_IFREG | 0600));
  CHECK(a.substr(a.size() - 4) == ".txt");
  {
    const FullDisk disk(2);
    expect_error(ErrorCategory::Io, {folder.path()}, [&] {
      write_private_file(folder.path(), "state-", ".txt", std::string("three"));
    });
  }
  CHECK(folder.names().size() == 2);
  expect_error(ErrorCategory::Io, {"none", "No such file"}, [&] {
    write_private_file(folder.file("none"), "state-", ".txt", std::string("x"));
  });
}

TEST_CASE("a file that replaces a set-user-id file has no set-user-id bit") {
  const TemporaryFolder folder;
  const std::string path = folder.make("a", "old");
  REQUIRE(::chmod(path.c_str(), 04755) == 0);
  write_file_atomically(path, std::string("new"));
  CHECK(mode_of(path) == (S_IFREG | 0755));
}

TEST_CASE("writing through a link replaces the target of the link") {
  const TemporaryFolder folder;
  const std::string target = folder.make("target", "old");
  const std::string link = folder.file("link");
  std::filesystem::create_symlink("target", link);
  write_file_atomically(link, std::string("new"));
  CHECK(std::filesystem::is_symlink(link));
  CHECK(content_of(target) == "new");
}

}  // namespace
}  // namespace gdr::test
