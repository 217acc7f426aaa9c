// Snapshot files that cannot be used: each error names the file, the place and the reason.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <utility>

#include "foreign_file.hpp"
#include "libgdr/io/snapshot.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

const std::vector<double> places = {1, 2, 3, 4, 5, 6};

/// Writes a file with two particles of one type, without the parts named in `without`.
void make_file(const std::string& path, const std::string& without = "") {
  ForeignFile file(path);
  file.group("Header");
  file.group("PartType1");
  if (without != "Coordinates") file.doubles("PartType1/Coordinates", {2, 3}, places);
  if (without != "Velocities") file.doubles("PartType1/Velocities", {2, 3}, places);
  if (without != "Masses") file.doubles("PartType1/Masses", {2}, {1, 2});
}

void expect_input(const std::string& path, std::vector<std::string> words) {
  words.push_back(path);
  expect_error(ErrorCategory::Input, words, [&] { read_snapshot(path); });
}

TEST_CASE("missing files, folders, empty files and files of other formats are errors") {
  const TemporaryFolder folder;
  const auto expect_io = [](const std::string& path, const std::string& word) {
    expect_error(ErrorCategory::Io, {path, word}, [&] { read_snapshot(path); });
  };
  expect_io(folder.file("none.hdf5"), "No such file");
  expect_io(folder.path(), "directory");
  expect_input(folder.make("empty", ""), {"empty"});
  expect_input(folder.make("text.hdf5", "1 0 0 0 0 0 0\n"), {"not an HDF5 file"});
  expect_input(folder.make("archive", std::string("PK\3\4\0", 5)), {"neither HDF5, nor text"});
  for (const std::string& length :
       {std::string("\0\1\0\0", 4), std::string("\0\0\1\0", 4), std::string("\10\0\0\0HEAD", 8)})
    expect_input(folder.make("snapshot_000", length + std::string(300, '\0')),
                 {"GADGET's binary format", "damaged"});
}

TEST_CASE("a truncated or overwritten HDF5 file is refused") {
  const TemporaryFolder folder;
  make_file(folder.file("whole.hdf5"));
  const std::string whole = content_of(folder.file("whole.hdf5"));
  REQUIRE_NOTHROW(read_snapshot(folder.file("whole.hdf5")));
  for (const std::size_t size : {9U, 100U, 500U, 1000U, 2000U, 4000U})
    if (size < whole.size()) expect_input(folder.make("short.hdf5", whole.substr(0, size)), {});
  std::string damaged = whole;
  for (std::size_t k = 64; k < 800 && k < damaged.size(); ++k) damaged[k] = '\x5a';
  expect_input(folder.make("damaged.hdf5", damaged), {});
}

TEST_CASE("errors name a missing dataset") {
  const TemporaryFolder folder;
  const std::string path = folder.file("part.hdf5");
  for (const std::string name : {"Coordinates", "Velocities", "Masses"}) {
    make_file(path, name);
    expect_input(path, {"PartType1", name});
  }
}

TEST_CASE("errors name wrong shapes and types and the expected shape") {
  const TemporaryFolder folder;
  const std::string path = folder.file("shape.hdf5");
  const auto with = [&](auto add) {
    ForeignFile file(path);
    file.group("PartType1");
    add(file);
  };
  with([](ForeignFile& f) { f.doubles("PartType1/Coordinates", {6}, places); });
  expect_input(path, {"PartType1/Coordinates", "(6)", "(n, 3)"});
  with([](ForeignFile& f) { f.doubles("PartType1/Coordinates", {3, 2}, places); });
  expect_input(path, {"PartType1/Coordinates", "(3, 2)"});
  with([](ForeignFile& f) { f.text("PartType1/Coordinates", "here"); });
  expect_input(path, {"PartType1/Coordinates", "numbers"});
  with([](ForeignFile& f) { f.claim("PartType1/Coordinates", {1ULL << 50, 3}, {1024, 3}); });
  expect_input(path, {"PartType1/Coordinates", "more than"});
  with([](ForeignFile& f) {
    f.doubles("PartType1/Coordinates", {2, 3}, places);
    f.doubles("PartType1/Masses", {3}, {1, 2, 3});
  });
  expect_input(path, {"PartType1/Masses", "(3)", "(2)"});
  with([](ForeignFile& f) {
    f.doubles("PartType1/Coordinates", {2, 3}, places);
    f.doubles("PartType1/Masses", {2}, {1, 2});
    f.doubles("PartType1/Velocities", {1, 3}, {1, 2, 3});
  });
  expect_input(path, {"PartType1/Velocities", "(1, 3)", "(2, 3)"});
}

TEST_CASE("an overflowing shape of Coordinates is an input error") {
  const TemporaryFolder folder;
  const std::string path = folder.file("huge.hdf5");
  for (const hsize_t n : {hsize_t{1} << 61, hsize_t{1} << 62, ~hsize_t{0} / 3, ~hsize_t{0} / 3 + 1,
                          ~hsize_t{0} / 24 + 1}) {
    {
      ForeignFile file(path);
      file.group("PartType1");
      file.claim("PartType1/Coordinates", {n, 3}, {1024, 3});
    }
    INFO(n);
    expect_input(path, {"PartType1/Coordinates", "more than"});
  }
}

/// A file of two particles and one more dataset.
template <typename Add>
void make_with(const std::string& path, const std::string& without, const Add& add) {
  ForeignFile file(path);
  file.group("PartType1");
  if (without != "Coordinates") file.doubles("PartType1/Coordinates", {2, 3}, places);
  if (without != "Velocities") file.doubles("PartType1/Velocities", {2, 3}, places);
  if (without != "Masses") file.doubles("PartType1/Masses", {2}, {1, 2});
  add(file);
}

TEST_CASE("a small file that claims many numbers is refused before memory is allocated") {
  const TemporaryFolder folder;
  const std::string path = folder.file("claim.hdf5");
  const auto peak = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const long before = peak();
  make_with(path, "", [](ForeignFile& f) {
    f.claim("PartType1/ParticleIDs", {1ULL << 27}, {1ULL << 20}, H5T_STD_U64LE);
  });
  expect_input(path, {"PartType1/ParticleIDs", "134217728 ids for 2 particles"});
  const auto with_all = [&](const std::vector<hsize_t>& chunk) {
    ForeignFile file(path);
    file.group("Header");
    file.attribute("Header", "NumPart_ThisFile", {0, 134217728, 0, 0, 0, 0}, H5T_STD_U32LE);
    file.group("PartType1");
    file.claim("PartType1/Coordinates", {1ULL << 27, 3}, {chunk[0], 3});
    file.claim("PartType1/Velocities", {1ULL << 27, 3}, {chunk[0], 3});
    file.claim("PartType1/Masses", {1ULL << 27}, chunk);
    file.claim("PartType1/ParticleIDs", {1ULL << 27}, chunk, H5T_STD_U64LE);
  };
  with_all({1ULL << 20});
  expect_input(path, {"PartType1/Coordinates", "402653184 numbers", "more than a file of"});
  make_with(path, "Masses", [](ForeignFile& f) { f.claim("PartType1/Masses", {2}, {1ULL << 28}); });
  CHECK_THROWS_AS(read_snapshot(path), Error);  // HDF5 itself rejects such a chunk
  CHECK(peak() - before < (64L << 10));
}

TEST_CASE("datasets that were never written are refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("unwritten.hdf5");
  make_with(path, "Masses", [](ForeignFile& f) { f.unwritten("PartType1/Masses", {2}); });
  expect_input(path, {"PartType1/Masses", "never written"});
  make_with(path, "Masses", [](ForeignFile& f) { f.claim("PartType1/Masses", {2}, {1}); });
  expect_input(path, {"PartType1/Masses", "2 chunks of numbers, of which 2 were never written"});
}

TEST_CASE("a dataset whose filter is missing is refused with advice that works") {
  const TemporaryFolder folder;
  const std::string path = folder.file("packed.hdf5");
  const auto same = [](unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*,
                       void**) { return bytes; };
  // The numbers of LZF, Blosc, LZ4, Zstandard, and of no filter that h5py or hdf5plugin have.
  const std::string command =
      "python3 -c \"import hdf5plugin, gdr.nbody as n; "
      "n.write('unpacked.hdf5', n.read('" +
      path + "'))\"";
  const std::pair<int, std::vector<std::string>> expected[] = {
      {32000, {"h5py and gdr: python3 -c \"import gdr.nbody as n; n.write("}},
      {32001, {"h5py, hdf5plugin and gdr: " + command}},
      {32004, {command}},
      {32015, {command}},
      {32999, {"h5py and hdf5plugin lack it, too: ask the file's author", "HDF5_PLUGIN_PATH"}}};
  for (auto [id, words] : expected) {
    const H5Z_class2_t filter{H5Z_CLASS_T_VERS,    id,      1,       1,
                              "packer; version 7", nullptr, nullptr, same};
    REQUIRE(H5Zregister(&filter) >= 0);
    make_with(path, "Masses", [&](ForeignFile& f) {
      f.filtered("PartType1/Masses", {1, 2}, filter.id);
    });
    CHECK(read_snapshot(path).mass == std::vector<double>{1, 2});
    REQUIRE(H5Zunregister(filter.id) >= 0);
    words.insert(words.end(), {"PartType1/Masses", fmt::format("filter {} (packer)", id)});
    expect_input(path, words);
  }
}

TEST_CASE("a file that a program is writing is not called damaged") {
  const TemporaryFolder folder;
  const std::string path = folder.file("open.hdf5");
  make_with(path, "", [](ForeignFile&) {});
  int ready[2], done[2];
  REQUIRE((::pipe(ready) == 0 && ::pipe(done) == 0));
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    bool ok = file >= 0 && ::write(ready[1], &byte, 1) == 1;
    ::close(done[1]);
    ok = ok && ::read(done[0], &byte, 1) == 0;
    ::_exit(ok ? 0 : 1);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  expect_error(ErrorCategory::Io, {path, "open in a program that writes it"},
               [&] { read_snapshot(path); });
  ::close(done[0]);
  ::close(done[1]);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("a virtual dataset is read if complete and refused if a source is missing") {
  const TemporaryFolder folder;
  const std::string path = folder.file("virtual.hdf5"), source = folder.file("source.hdf5");
  const auto make_source = [&](const std::vector<hsize_t>& shape) {
    ForeignFile file(source);
    file.doubles("x", shape, std::vector<double>(shape[0] * shape[1], 7.5));
  };
  const auto make = [&](const std::string& name) {
    make_with(path, "Coordinates", [&](ForeignFile& f) {
      f.virtual_doubles("PartType1/Coordinates", {2, 3}, name, "x");
    });
  };
  make_source({2, 3});
  for (const std::string& name : {std::string("source.hdf5"), source}) {
    make(name);
    CHECK(read_snapshot(path).position == std::vector<double>(6, 7.5));
  }
  make_source({1, 3});
  expect_input(path, {"PartType1/Coordinates", "source.hdf5", "too short"});
  { const ForeignFile empty(source); }
  expect_input(path, {"PartType1/Coordinates", "source.hdf5", "cannot be opened"});
  std::filesystem::remove(source);
  expect_input(path, {"PartType1/Coordinates", "source.hdf5", "missing"});
  // A series of numbered files, whose number is unknown; one exists, so that there are two rows.
  make_source({2, 3});
  std::filesystem::rename(source, folder.file("source0.hdf5"));
  make_with(path, "Coordinates", [&](ForeignFile& f) {
    f.virtual_series("PartType1/Coordinates", folder.file("source%b.hdf5"), "x");
  });
  expect_input(path, {"PartType1/Coordinates", "numbered names"});
  // A source in the same file, and one that is the dataset itself.
  make_with(path, "Masses", [](ForeignFile& f) {
    f.virtual_doubles("PartType1/Masses", {2}, ".", "PartType1/M");
    f.doubles("PartType1/M", {2}, {3, 4});
  });
  CHECK(read_snapshot(path).mass == std::vector<double>{3, 4});
  make_with(path, "Masses", [](ForeignFile& f) {
    f.virtual_doubles("PartType1/Masses", {2}, ".", "PartType1/Masses");
  });
  expect_input(path, {"PartType1/Masses", "parts"});
}

TEST_CASE("a link to nothing is named as one, and not taken for a missing dataset") {
  const TemporaryFolder folder;
  const std::string path = folder.file("link.hdf5");
  for (const std::string name : {"Coordinates", "Velocities", "Masses", "ParticleIDs"}) {
    make_with(path, name, [&](ForeignFile& f) { f.link("PartType1/" + name, "/nowhere"); });
    expect_input(path, {"PartType1/" + name + " is a link to something that does not exist"});
  }
}

TEST_CASE("external storage that is missing or too short is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("outside.hdf5"), raw = folder.file("raw");
  make_with(path, "Masses",
            [&](ForeignFile& f) { f.external_doubles("PartType1/Masses", {2}, raw); });
  expect_input(path, {"PartType1/Masses", "raw", "missing"});
  folder.make("raw", std::string(15, '\0'));
  expect_input(path, {"PartType1/Masses", "raw", "too short"});
  folder.make("raw", std::string(14, '\0') + "\xf8\x3f" + std::string(8, '\0'));
  CHECK(read_snapshot(path).mass == std::vector<double>{0, 1.5});
}

TEST_CASE("ids that do not match the particles are refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ids.hdf5");
  const auto with = [&](auto add) {
    make_file(path);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const auto ids = [&](hsize_t count, hid_t type) {
      const hid_t space = H5Screate_simple(1, &count, nullptr);
      H5Dclose(H5Dcreate2(file, "PartType1/ParticleIDs", type, space, H5P_DEFAULT, H5P_DEFAULT,
                          H5P_DEFAULT));
      H5Sclose(space);
    };
    add(ids);
    H5Fclose(file);
  };
  with([](auto ids) { ids(3, H5T_STD_I32LE); });
  expect_input(path, {"PartType1/ParticleIDs", "3 ids for 2"});
  with([](auto ids) { ids(2, H5T_IEEE_F64LE); });
  expect_input(path, {"PartType1/ParticleIDs", "integers"});
}

TEST_CASE("a header that contradicts the particles is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("header.hdf5");
  const auto with = [&](const std::string& name, const std::vector<double>& values) {
    ForeignFile file(path);
    file.group("Header");
    file.attribute("Header", name, values, H5T_IEEE_F64LE);
    file.group("PartType1");
    file.doubles("PartType1/Coordinates", {2, 3}, places);
    file.doubles("PartType1/Velocities", {2, 3}, places);
    file.doubles("PartType1/Masses", {2}, {1, 2});
  };
  with("NumPart_ThisFile", {0, 3, 0, 0, 0, 0});
  expect_input(path, {"NumPart_ThisFile", "3 particles of type 1", "has 2"});
  with("NumPart_ThisFile", {5, 2, 0, 0, 0, 0});
  expect_input(path, {"NumPart_ThisFile", "5 particles of type 0"});
  with("NumFilesPerSnapshot", {4});
  expect_input(path, {"one of 4 files", "snapshot.0.hdf5"});
  with("Time", {std::nan("")});
  expect_input(path, {"Time", "finite"});
}

TEST_CASE("a snapshot without particles is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("nobody.hdf5");
  { ForeignFile file(path); }
  expect_input(path, {"no particles"});
  {
    ForeignFile file(path);
    file.group("PartType1");
    file.doubles("PartType1/Coordinates", {0, 3}, {});
  }
  expect_input(path, {"no particles"});
}

TEST_CASE("errors about non-finite numbers name quantity, particle and id") {
  const TemporaryFolder folder;
  const std::string path = folder.file("nan.hdf5");
  const auto with = [&](std::vector<double> x, std::vector<double> v, std::vector<double> m) {
    ForeignFile file(path);
    file.group("PartType1");
    file.doubles("PartType1/Coordinates", {2, 3}, x);
    file.doubles("PartType1/Velocities", {2, 3}, v);
    file.doubles("PartType1/Masses", {2}, m);
    file.ids("PartType1/ParticleIDs", {40, 41}, H5T_STD_U32LE);
  };
  with({1, 2, 3, 4, std::nan(""), 6}, places, {1, 1});
  expect_input(path, {"y position of particle 1 (id 41)", "nan"});
  with(places, {1, 2, -INFINITY, 4, 5, 6}, {1, 1});
  expect_input(path, {"z velocity of particle 0 (id 40)", "-inf"});
  with(places, places, {1, INFINITY});
  expect_input(path, {"mass of particle 1 (id 41)", "inf"});
}

}  // namespace
}  // namespace gdr::test
