// Snapshots in binary formats of other codes, written by the descriptions of these formats.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "libgdr/io/packed_file.hpp"

namespace gdr::test {

/// Numbers in a byte order, one behind the other.
class ByteWriter {
 public:
  explicit ByteWriter(ByteOrder order) : order_(order) {}

  template <typename Number>
  ByteWriter& add(Number value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);  // this host is little-endian, as all that run tests
    if (order_ == ByteOrder::Big) std::reverse(bytes, bytes + sizeof value);
    content_.append(bytes, sizeof value);
    return *this;
  }
  ByteWriter& add_text(const std::string& text) {
    content_ += text;
    return *this;
  }
  /// A record with its length before and behind.
  ByteWriter& add_record(const std::string& content) {
    const auto length = static_cast<std::uint32_t>(content.size());
    return add(length).add_text(content).add(length);
  }
  const std::string& content() const { return content_; }

 private:
  ByteOrder order_;
  std::string content_;
};

/// Two particles of gas, three of dark matter and one star; the number `k` of a quantity of a
/// particle is exact in a float.
struct BinaryParticles {
  std::array<std::uint32_t, 6> counts = {2, 3, 0, 0, 1, 0};
  /// Of each particle of a type; 0: in a block of its own.
  std::array<double, 6> masses = {0, 0.5, 0, 0, 0, 0};
  double time = 0.25;
  std::int32_t files = 1;

  std::size_t size() const { return counts[0] + counts[1] + counts[4]; }
  static double position(std::size_t k) { return 0.25 * static_cast<double>(k) - 1; }
  static double velocity(std::size_t k) { return 8 - 0.5 * static_cast<double>(k); }
  static double mass(std::size_t particle) { return 1 + 0.125 * static_cast<double>(particle); }
  static std::uint64_t id(std::size_t particle) { return 100 - particle; }
};

inline std::string gadget_header(const BinaryParticles& particles, ByteOrder order) {
  ByteWriter header(order);
  for (const std::uint32_t count : particles.counts) header.add(count);
  for (const double mass : particles.masses) header.add(mass);
  header.add(particles.time).add(3.0).add(std::int32_t{0}).add(std::int32_t{0});
  for (const std::uint32_t count : particles.counts)
    header.add(count * static_cast<std::uint32_t>(particles.files));
  header.add(std::int32_t{0}).add(particles.files);
  header.add(10.0).add(0.25).add(0.75).add(0.5);  // box, densities, Hubble's constant
  header.add(std::int32_t{0}).add(std::int32_t{0});
  for (int type = 0; type < 6; ++type) header.add(std::uint32_t{0});  // high words
  return header.content() + std::string(256 - header.content().size(), '\0');
}

/// A snapshot in GADGET's binary format 1 or 2, with numbers of type `Number` and ids of `Id`. The
/// order of the blocks of format 2 is changed, and there is one that is not known.
template <typename Number = float, typename Id = std::uint32_t>
std::string gadget_bytes(const BinaryParticles& particles, int format, ByteOrder order) {
  ByteWriter position(order), velocity(order), id(order), mass(order);
  std::size_t particle = 0;
  for (std::size_t type = 0; type < 6; ++type) {
    for (std::uint32_t i = 0; i < particles.counts[type]; ++i, ++particle) {
      for (std::size_t k = 3 * particle; k < 3 * particle + 3; ++k) {
        position.add(static_cast<Number>(BinaryParticles::position(k)));
        velocity.add(static_cast<Number>(BinaryParticles::velocity(k)));
      }
      id.add(static_cast<Id>(BinaryParticles::id(particle)));
      if (particles.masses[type] == 0)
        mass.add(static_cast<Number>(BinaryParticles::mass(particle)));
    }
  }
  ByteWriter file(order);
  const auto block = [&](const std::string& name, const std::string& content) {
    ByteWriter label(order);
    label.add_text(name).add(static_cast<std::uint32_t>(content.size() + 8));
    if (format == 2) file.add_record(label.content());
    file.add_record(content);
  };
  block("HEAD", gadget_header(particles, order));
  block("POS ", position.content());
  if (format == 2) block("U   ", std::string(8, '\1'));
  if (format == 2) block("MASS", mass.content());
  block("VEL ", velocity.content());
  block("ID  ", id.content());
  if (format == 1 && !mass.content().empty()) block("MASS", mass.content());
  return file.content();
}

/// The same particles in TIPSY's format; all have the masses of `BinaryParticles::mass`.
inline std::string tipsy_bytes(const BinaryParticles& particles, ByteOrder order,
                               bool is_padded = true) {
  ByteWriter file(order);
  const std::array<std::uint32_t, 3> counts = {particles.counts[0], particles.counts[1],
                                               particles.counts[4]};
  file.add(particles.time).add(static_cast<std::uint32_t>(particles.size())).add(std::uint32_t{3});
  for (const std::uint32_t count : counts) file.add(count);
  if (is_padded) file.add(std::uint32_t{0});
  const std::array<int, 3> other_numbers = {5, 2, 4};
  std::size_t particle = 0;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    for (std::uint32_t i = 0; i < counts[kind]; ++i, ++particle) {
      file.add(static_cast<float>(BinaryParticles::mass(particle)));
      for (std::size_t k = 3 * particle; k < 3 * particle + 3; ++k)
        file.add(static_cast<float>(BinaryParticles::position(k)));
      for (std::size_t k = 3 * particle; k < 3 * particle + 3; ++k)
        file.add(static_cast<float>(BinaryParticles::velocity(k)));
      for (int k = 0; k < other_numbers[kind]; ++k) file.add(-77.0F);
    }
  }
  return file.content();
}

}  // namespace gdr::test
