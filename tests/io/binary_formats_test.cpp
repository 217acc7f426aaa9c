// Snapshots in GADGET's binary formats 1 and 2 and in TIPSY's, in both byte orders; types that are
// left out.

#include "binary_images.hpp"
#include "foreign_file.hpp"
#include "libgdr/io/snapshot.hpp"
#include "support/catch.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

const std::vector<std::size_t> all_counts = {2, 3, 0, 0, 1, 0};

/// Positions and velocities are those of BinaryParticles.
void check_places(const Snapshot& s) {
  REQUIRE(s.size() == 6);
  CHECK(s.type_counts == all_counts);
  CHECK(s.time == 0.25);
  for (std::size_t k = 0; k < 18; ++k) {
    CHECK(s.position[k] == BinaryParticles::position(k));
    CHECK(s.velocity[k] == BinaryParticles::velocity(k));
  }
}

void check_gadget(const Snapshot& s) {
  check_places(s);
  CHECK(s.mass == std::vector<double>{1, 1.125, 0.5, 0.5, 0.5, 1.625});
  for (std::size_t i = 0; i < 6; ++i) CHECK(s.id[i] == BinaryParticles::id(i));
  CHECK_FALSE(s.signed_ids);
  CHECK(s.header.at("BoxSize") == std::vector<double>{10});
  CHECK(s.header.at("HubbleParam") == std::vector<double>{0.5});
  CHECK(s.header.at("Redshift") == std::vector<double>{3});
}

TEST_CASE("GADGET's binary formats are read in both byte orders and precisions") {
  const TemporaryFolder folder;
  const BinaryParticles particles;
  for (const int format : {1, 2}) {
    for (const ByteOrder order : {ByteOrder::Little, ByteOrder::Big}) {
      CAPTURE(format, order);
      check_gadget(
          read_snapshot(folder.make("snapshot_000", gadget_bytes(particles, format, order))));
      check_gadget(read_snapshot(
          folder.make("wide", gadget_bytes<double, std::uint64_t>(particles, format, order))));
    }
  }
}

TEST_CASE("ids of 64 bits keep all of them") {
  const TemporaryFolder folder;
  BinaryParticles one;
  one.counts = {0, 1, 0, 0, 0, 0};
  std::string bytes = gadget_bytes<float, std::uint64_t>(one, 1, ByteOrder::Little);
  // The last record has the id.
  for (std::size_t k = 0; k < 8; ++k) bytes[bytes.size() - 12 + k] = static_cast<char>(0xf0 + k);
  const Snapshot s = read_snapshot(folder.make("large", bytes));
  CHECK(s.id == std::vector<std::uint64_t>{0xf7f6f5f4f3f2f1f0});
}

TEST_CASE("a snapshot in several binary files is read whole") {
  const TemporaryFolder folder;
  BinaryParticles particles;
  particles.files = 2;
  const std::string bytes = gadget_bytes(particles, 1, ByteOrder::Big);
  folder.make("snap_003.0", bytes);
  const Snapshot s = read_snapshot(folder.make("snap_003.1", bytes));
  CHECK(s.type_counts == std::vector<std::size_t>{4, 6, 0, 0, 2, 0});
  CHECK(s.mass == std::vector<double>{1, 1.125, 1, 1.125, .5, .5, .5, .5, .5, .5, 1.625, 1.625});
}

TEST_CASE("TIPSY's format is read in both byte orders, with and without padding") {
  const TemporaryFolder folder;
  for (const ByteOrder order : {ByteOrder::Little, ByteOrder::Big}) {
    for (const bool is_padded : {true, false}) {
      CAPTURE(order, is_padded);
      const Snapshot s =
          read_snapshot(folder.make("galaxy.std", tipsy_bytes({}, order, is_padded)));
      check_places(s);
      for (std::size_t i = 0; i < 6; ++i) {
        CHECK(s.mass[i] == BinaryParticles::mass(i));
        CHECK(s.id[i] == i + 1);
      }
    }
  }
}

TEST_CASE("a run from a binary snapshot writes HDF5") {
  const TemporaryFolder folder;
  const std::string path = folder.make("snapshot_000", gadget_bytes({}, 2, ByteOrder::Little));
  CHECK(snapshot_format(path) == SnapshotFormat::Hdf5);
}

TEST_CASE("binary snapshots that are cut short or damaged are refused with file and block") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& bytes, std::vector<std::string> words) {
    const std::string path = folder.make("damaged", bytes);
    words.push_back(path);
    expect_error(ErrorCategory::Input, words, [&] { read_snapshot(path); });
  };
  const std::string whole = gadget_bytes({}, 1, ByteOrder::Little);
  for (std::size_t size = 260; size < whole.size(); size += 7) {
    CAPTURE(size, whole.size());
    refused(whole.substr(0, size), {});
  }
  std::string longer = whole;
  longer[4] = 3;  // three particles of gas: the block of positions is too short for seven particles
  refused(longer, {"Coordinates", "21 numbers", "72 bytes"});
  const std::string tipsy = tipsy_bytes({}, ByteOrder::Big);
  refused(tipsy.substr(0, tipsy.size() - 4), {"TIPSY", "6 particles", "280 bytes", "276"});
  refused(tipsy + "more", {"TIPSY", "280 bytes", "284"});
  std::string flat = tipsy;
  flat[15] = 2;
  refused(flat, {"TIPSY", "2 dimensions"});
}

TEST_CASE("a block of masses that the header asks for must be there") {
  const TemporaryFolder folder;
  BinaryParticles particles;
  std::string bytes = gadget_bytes(particles, 1, ByteOrder::Little);
  bytes.resize(bytes.size() - (8 + 3 * 4));
  const std::string path = folder.make("without", bytes);
  expect_error(ErrorCategory::Input, {path}, [&] { read_snapshot(path); });
}

TEST_CASE("a block of masses beside masses in the header of format 2 is skipped") {
  const TemporaryFolder folder;
  BinaryParticles particles;
  const std::string with_block = gadget_bytes(particles, 2, ByteOrder::Little);
  std::string bytes = with_block;
  // The masses of gas and stars in the header, too: the block has three numbers that nobody needs.
  const double mass = 4;
  for (const std::size_t type : {0U, 4U}) std::memcpy(&bytes[16 + 4 + 24 + 8 * type], &mass, 8);
  const Snapshot s = read_snapshot(folder.make("both", bytes));
  CHECK(s.mass == std::vector<double>{4, 4, 0.5, 0.5, 0.5, 4});
}

TEST_CASE("types that are left out are neither read nor checked") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.hdf5");
  {
    ForeignFile file(path);
    file.group("Header");
    file.attribute("Header", "NumPart_ThisFile", {9, 2, 0, 0, 0, 0}, H5T_STD_U32LE);
    file.group("PartType0");  // nine particles of gas, of which the file has nothing
    file.group("PartType1");
    file.doubles("PartType1/Coordinates", {2, 3}, {1, 2, 3, 4, 5, 6});
    file.doubles("PartType1/Velocities", {2, 3}, {1, 2, 3, 4, 5, 6});
    file.doubles("PartType1/Masses", {2}, {1, 2});
  }
  CHECK_THROWS(read_snapshot(path));
  const Snapshot s = read_snapshot(path, Velocities::Needed, 1U << 0);
  CHECK(s.type_counts == std::vector<std::size_t>{0, 2, 0, 0, 0, 0});
  CHECK(s.mass == std::vector<double>{1, 2});
  expect_error(ErrorCategory::Input, {path, "left out"},
               [&] { read_snapshot(path, Velocities::Needed, 1U << 0 | 1U << 1); });
  const Snapshot dark = read_snapshot(folder.make("g", gadget_bytes({}, 1, ByteOrder::Big)),
                                      Velocities::Needed, 1U << 0);
  CHECK(dark.mass == std::vector<double>{0.5, 0.5, 0.5, 1.625});
  CHECK(dark.position[0] == BinaryParticles::position(6));
  const std::string text = folder.make("text", "1 0 0 0 0 0 0\n");
  CHECK(read_snapshot(text, Velocities::Needed, 1U << 0).size() == 1);
  expect_error(ErrorCategory::Input, {text, "type 1"},
               [&] { read_snapshot(text, Velocities::Needed, 1U << 1); });
}

}  // namespace
}  // namespace gdr::test
