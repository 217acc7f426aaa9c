// Snapshots of other codes: particle types, number formats, incomplete headers.
#include <fstream>
#include <limits>

#include "foreign_file.hpp"
#include "libgdr/io/snapshot.hpp"
#include "support/catch.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

const std::vector<double> two_places = {1, 2, 3, 4, 5, 6};
const std::vector<double> two_velocities = {.5, .25, .125, -1, -2, -3};

/// Two particles of one type with everything but a header.
void add_type(ForeignFile& file, const std::string& group, double mass) {
  file.group(group);
  file.doubles(group + "/Coordinates", {2, 3}, two_places);
  file.doubles(group + "/Velocities", {2, 3}, two_velocities);
  file.doubles(group + "/Masses", {2}, {mass, mass * 2});
}

TEST_CASE("a file without header and ids is read") {
  const TemporaryFolder folder;
  const std::string path = folder.file("plain.hdf5");
  {
    ForeignFile file(path);
    add_type(file, "PartType1", 0.5);
  }
  const Snapshot s = read_snapshot(path);
  CHECK(s.time == 0);
  CHECK(s.size() == 2);
  CHECK(s.position == two_places);
  CHECK(s.velocity == two_velocities);
  CHECK(s.mass == std::vector<double>{0.5, 1});
  CHECK(s.id == std::vector<std::uint64_t>{1, 2});
  CHECK(s.type_counts == std::vector<std::size_t>{0, 2, 0, 0, 0, 0});
  CHECK_FALSE(s.run.has_value());
}

TEST_CASE("particles are ordered by type, with ids of any integer type") {
  const TemporaryFolder folder;
  const std::string path = folder.file("types.hdf5");
  {
    ForeignFile file(path);
    add_type(file, "PartType4", 4);  // created first; particles are ordered by type
    file.ids("PartType4/ParticleIDs", {-7, 8}, H5T_STD_I32LE);
    add_type(file, "PartType0", 1);
    file.ids("PartType0/ParticleIDs", {3, 1}, H5T_STD_U64BE);
    file.group("PartType2");  // some codes write empty groups
  }
  const Snapshot s = read_snapshot(path);
  CHECK(s.type_counts == std::vector<std::size_t>{2, 0, 0, 0, 2, 0});
  CHECK(s.mass == std::vector<double>{1, 2, 4, 8});
  CHECK(s.signed_ids);
  CHECK(id_text(s, 0) == "3");
  CHECK(id_text(s, 2) == "-7");
  CHECK(id_text(s, 3) == "8");
}

TEST_CASE("unsigned ids keep all 64 bits") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ids.hdf5");
  constexpr auto largest = std::numeric_limits<unsigned long long>::max();
  {
    ForeignFile file(path);
    add_type(file, "PartType1", 1);
    file.raw_ids("PartType1/ParticleIDs", {largest, 1ULL << 63}, H5T_STD_U64LE);
  }
  const Snapshot s = read_snapshot(path);
  CHECK_FALSE(s.signed_ids);
  CHECK(s.id == std::vector<std::uint64_t>{largest, 1ULL << 63});
}

TEST_CASE("float32, either byte order, integers and packed datasets become doubles") {
  const TemporaryFolder folder;
  const std::string path = folder.file("float.hdf5");
  {
    ForeignFile file(path);
    file.group("PartType1");
    file.doubles("PartType1/Coordinates", {2, 3}, {0.1, 2, 3, 4, 5, 6}, H5T_IEEE_F32LE, true);
    file.doubles("PartType1/Velocities", {2, 3}, {0.1, 2, 3, 4, 5, 6}, H5T_IEEE_F32BE);
    file.doubles("PartType1/Masses", {2, 1}, {3, 4}, H5T_STD_I16BE);
  }
  const Snapshot s = read_snapshot(path);
  CHECK(s.position[0] == static_cast<double>(0.1F));
  CHECK(s.velocity[0] == static_cast<double>(0.1F));
  CHECK(s.velocity[5] == 6);
  CHECK(s.mass == std::vector<double>{3, 4});
}

TEST_CASE("MassTable provides the masses of a type without a dataset") {
  const TemporaryFolder folder;
  const std::string path = folder.file("table.hdf5");
  {
    ForeignFile file(path);
    file.group("Header");
    file.attribute("Header", "MassTable", {0, 0.25, 9, 0, 0, 0}, H5T_IEEE_F32LE);
    file.attribute("Header", "NumPart_ThisFile", {0, 2, 2, 0, 0, 0}, H5T_STD_U32LE);
    file.attribute("Header", "Time", {3.5}, H5T_IEEE_F64BE);
    file.attribute("Header", "BoxSize", {100}, H5T_STD_I32LE);
    file.group("PartType1");
    file.doubles("PartType1/Coordinates", {2, 3}, two_places);
    file.doubles("PartType1/Velocities", {2, 3}, two_velocities);
    add_type(file, "PartType2", 2);  // its masses take precedence over the table
  }
  const Snapshot s = read_snapshot(path);
  CHECK(s.mass == std::vector<double>{0.25, 0.25, 2, 4});
  CHECK(s.time == 3.5);
  CHECK(s.header.at("BoxSize") == std::vector<double>{100});
  CHECK(s.header.count("Redshift") == 0);
}

TEST_CASE("velocities are optional for forces") {
  const TemporaryFolder folder;
  const std::string path = folder.file("still.hdf5");
  {
    ForeignFile file(path);
    file.group("PartType3");
    file.doubles("PartType3/Coordinates", {2, 3}, two_places);
    file.doubles("PartType3/Masses", {2}, {1, 1});
  }
  const Snapshot s = read_snapshot(path, Velocities::Ignored);
  CHECK(s.size() == 2);
  CHECK(s.velocity.empty());
  CHECK_THROWS(read_snapshot(path));
}

TEST_CASE("signed and unsigned ids of different types keep all bits, or are an error") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ids.hdf5");
  constexpr unsigned long long large = (1ULL << 63) + 5;
  const auto make = [&](std::vector<long long> first, std::vector<unsigned long long> second) {
    ForeignFile file(path);
    add_type(file, "PartType1", 1);
    file.ids("PartType1/ParticleIDs", first, H5T_STD_I64LE);
    add_type(file, "PartType2", 1);
    file.raw_ids("PartType2/ParticleIDs", second, H5T_STD_U64LE);
  };
  make({(1LL << 53) + 1, 2}, {(1ULL << 53) + 3, 7});
  Snapshot s = read_snapshot(path);
  CHECK(s.id == std::vector<std::uint64_t>{(1ULL << 53) + 1, 2, (1ULL << 53) + 3, 7});
  make({(1LL << 62) + 1, 2}, {large, 7});  // no negative id: unsigned ids have all of them
  s = read_snapshot(path);
  CHECK_FALSE(s.signed_ids);
  CHECK(s.id == std::vector<std::uint64_t>{(1ULL << 62) + 1, 2, large, 7});
  make({-1, 2}, {3, 7});
  s = read_snapshot(path);
  CHECK(s.signed_ids);
  CHECK(id_text(s, 0) == "-1");
  make({-1, 2}, {large, 7});
  expect_error(ErrorCategory::Input, {path, "ParticleIDs", "renumber"},
               [&] { read_snapshot(path); });
}

TEST_CASE("a file with a user block is read") {
  const TemporaryFolder folder;
  for (const hsize_t size : {512U, 4096U}) {
    const std::string path = folder.file("block.hdf5");
    {
      ForeignFile file(path, size);
      add_type(file, "PartType1", 1);
    }
    std::fstream begin(path, std::ios::in | std::ios::out | std::ios::binary);
    begin << "# made by a program that puts text before its data\n";
    begin.close();
    CHECK(read_snapshot(path).position == two_places);
  }
}

TEST_CASE("types whose datasets hold no numbers have no particles, whatever their shape") {
  const TemporaryFolder folder;
  const std::string path = folder.file("empty.hdf5");
  for (const bool header : {false, true}) {
    ForeignFile file(path);
    file.group("Header");
    if (header)
      file.attribute("Header", "NumPart_ThisFile", {0, 2, 0, 0, 0, 0}, H5T_STD_I32LE);
    else
      file.null_attribute("Header", "NumPart_ThisFile");
    file.null_attribute("Header", "BoxSize");
    file.group("PartType0");
    file.doubles("PartType0/Coordinates", {0}, {});
    file.doubles("PartType0/Masses", {0}, {});
    add_type(file, "PartType1", 1);
    file.group("PartType2");
    file.doubles("PartType2/Coordinates", {0, 3}, {});
    file.group("PartType3");
    file.null("PartType3/Coordinates");
    file.null("PartType3/ParticleIDs", H5T_STD_U64LE);
    file.group("PartType4");
  }
  const Snapshot s = read_snapshot(path);
  CHECK(s.type_counts == std::vector<std::size_t>{0, 2, 0, 0, 0, 0});
  CHECK(s.header.count("BoxSize") == 0);
}

TEST_CASE("three edges of a box are kept as three") {
  const TemporaryFolder folder;
  const std::string path = folder.file("box.hdf5");
  {
    ForeignFile file(path);
    file.group("Header");
    file.attribute("Header", "BoxSize", {100, 100, 25}, H5T_IEEE_F64LE);
    add_type(file, "PartType1", 1);
  }
  const Snapshot s = read_snapshot(path);
  CHECK(s.header.at("BoxSize") == std::vector<double>{100, 100, 25});
  write_snapshot(folder.file("again.hdf5"), s, SnapshotFormat::Hdf5);
  CHECK(read_snapshot(folder.file("again.hdf5")).header.at("BoxSize") == s.header.at("BoxSize"));
}

TEST_CASE("more particle types than GADGET's are read") {
  const TemporaryFolder folder;
  const std::string path = folder.file("seven.hdf5");
  {
    ForeignFile file(path);
    file.group("Header");
    file.attribute("Header", "NumPart_ThisFile", {0, 0, 0, 0, 0, 0, 2}, H5T_STD_I64LE);
    add_type(file, "PartType6", 1);
  }
  const Snapshot s = read_snapshot(path);
  CHECK(s.type_counts == std::vector<std::size_t>{0, 0, 0, 0, 0, 0, 2});
  write_snapshot(folder.file("again.hdf5"), s, SnapshotFormat::Hdf5);
  CHECK(read_snapshot(folder.file("again.hdf5")).type_counts == s.type_counts);
}

}  // namespace
}  // namespace gdr::test
