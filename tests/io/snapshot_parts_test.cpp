// Snapshots in several files: which belong together, and what they must have in common.
#include <fmt/format.h>
#include <sys/resource.h>

#include <filesystem>

#include "foreign_file.hpp"
#include "libgdr/io/snapshot.hpp"
#include "support/catch.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

struct PartHeader {
  double files = 3, time = 1.5, total = 6;
};

/// File `number` of three with two particles of type 1, and one of type 0 in the last file.
void make_part(const std::string& path, int number, const PartHeader& header = {}) {
  ForeignFile file(path);
  file.group("Header");
  file.attribute("Header", "NumFilesPerSnapshot", {header.files}, H5T_STD_I32LE);
  file.attribute("Header", "Time", {header.time}, H5T_IEEE_F64LE);
  file.attribute("Header", "NumPart_Total", {1, header.total, 0, 0, 0, 0}, H5T_STD_U32LE);
  file.attribute("Header", "MassTable", {1, 2, 0, 0, 0, 0}, H5T_IEEE_F64LE);
  const double x = 10 * number;
  file.group("PartType1");
  file.doubles("PartType1/Coordinates", {2, 3}, {x, x, x, x + 1, x, x});
  file.doubles("PartType1/Velocities", {2, 3}, {0, 0, 0, 0, 0, 0});
  file.ids("PartType1/ParticleIDs", {10 * number, 10 * number + 1}, H5T_STD_U32LE);
  if (number != 2) return;
  file.group("PartType0");
  file.doubles("PartType0/Coordinates", {1, 3}, {-1, -1, -1});
  file.doubles("PartType0/Velocities", {1, 3}, {0, 0, 0});
  file.ids("PartType0/ParticleIDs", {99}, H5T_STD_U32LE);
}

std::vector<std::string> make_parts(const TemporaryFolder& folder, const char* pattern) {
  std::vector<std::string> names;
  for (int k = 0; k < 3; ++k) {
    names.push_back(folder.file(fmt::format(fmt::runtime(pattern), k)));
    make_part(names.back(), k);
  }
  return names;
}

TEST_CASE("any file of a snapshot in several selects all, with numbers of any width") {
  for (const char* pattern : {"snap_007.{}.hdf5", "snap.{:03}.hdf5", "snap.{:02}.h5", "snap.{}"}) {
    const TemporaryFolder folder;
    for (const std::string& name : make_parts(folder, pattern)) {
      INFO(name);
      const Snapshot s = read_snapshot(name);
      CHECK(s.type_counts == std::vector<std::size_t>{1, 6, 0, 0, 0, 0});
      CHECK(s.id == std::vector<std::uint64_t>{99, 0, 1, 10, 11, 20, 21});
      CHECK(s.mass == std::vector<double>{1, 2, 2, 2, 2, 2, 2});
      CHECK(s.position[3 * 3] == 10);
      CHECK(s.time == 1.5);
    }
  }
}

TEST_CASE("twelve files with numbers of one and two digits are found from each") {
  const TemporaryFolder folder;
  for (int k = 0; k < 12; ++k)
    make_part(folder.file(fmt::format("snap.{}.hdf5", k)), k, {.files = 12, .total = 24});
  for (const char* name : {"snap.3.hdf5", "snap.10.hdf5"})
    CHECK(read_snapshot(folder.file(name)).type_counts[1] == 24);
}

TEST_CASE("a snapshot in more files than a program may have open is read") {
  const TemporaryFolder folder;
  constexpr int files = 60;
  for (int k = 0; k < files; ++k)
    make_part(folder.file(fmt::format("snap.{}.hdf5", k)), k, {.files = files, .total = 2 * files});
  rlimit usual{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual) == 0);
  const rlimit few{40, usual.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  std::size_t particles = 0;
  CHECK_NOTHROW(particles = read_snapshot(folder.file("snap.7.hdf5")).size());
  ::setrlimit(RLIMIT_NOFILE, &usual);
  CHECK(particles == 2 * files + 1);
}

TEST_CASE("files of different snapshots are not joined") {
  const TemporaryFolder folder;
  const auto names = make_parts(folder, "snap.{}.hdf5");
  const auto refused = [&](const PartHeader& header, std::vector<std::string> words) {
    make_part(names[1], 1, header);
    words.push_back("different snapshots");
    expect_error(ErrorCategory::Input, words, [&] { read_snapshot(names[2]); });
  };
  refused({.time = 1.25}, {"snap.1.hdf5", "Header/Time", "is 1.25, but 1.5 in", "snap.0.hdf5"});
  refused({.files = 4}, {"snap.1.hdf5", "NumFilesPerSnapshot"});
  refused({.total = 7}, {"snap.1.hdf5", "NumPart_Total"});
}

TEST_CASE("missing files of a snapshot, names without a number and wrong totals are errors") {
  const TemporaryFolder folder;
  const auto names = make_parts(folder, "snap.{:03}.hdf5");
  make_part(folder.file("alone.hdf5"), 1);
  expect_error(ErrorCategory::Input, {"alone.hdf5", "one of 3 files", "snapshot.0.hdf5"},
               [&] { read_snapshot(folder.file("alone.hdf5")); });
  make_part(folder.file("snap.003.hdf5"), 1);
  expect_error(ErrorCategory::Input, {"snap.003.hdf5", "a number from 0 to 2"},
               [&] { read_snapshot(folder.file("snap.003.hdf5")); });
  std::filesystem::remove(names[1]);
  expect_error(ErrorCategory::Io, {"one of 3 files", "snap.001.hdf5", "missing"},
               [&] { read_snapshot(names[0]); });
  for (int k = 0; k < 3; ++k) make_part(names[static_cast<std::size_t>(k)], k, {.total = 9});
  expect_error(ErrorCategory::Input, {"NumPart_Total", "9 particles of type 1", "have 6"},
               [&] { read_snapshot(names[0]); });
}

}  // namespace
}  // namespace gdr::test
