#include "emulator/engine/jit/arm64/assembler.hpp"

#include <cstring>
#include <stdexcept>

namespace gdr::jit::arm64 {
namespace {

constexpr std::uint32_t nop = 0xd503201f;
constexpr std::int64_t saved_bytes = 64;  // of vectors 8 to 15

/// Where an instruction has the distance of a label, in words (adr: in bytes).
struct DistanceField {
  unsigned first = 0, bits = 0;
};

DistanceField distance_field(std::uint32_t word) {
  if ((word & 0xfc000000) == a64::b) return {0, 26};
  if ((word & 0x7e000000) == a64::tbz) return {5, 14};
  return {5, 19};
}

bool is_adr(std::uint32_t word) { return (word & 0x9f000000) == a64::adr; }

}  // namespace

void Assembler::add(unsigned to, unsigned a, std::int64_t number) {
  constexpr std::int64_t bits = 12, low = (1 << bits) - 1;
  const bool negative = number < 0;
  const std::int64_t size = negative ? -number : number;
  if (size >> (2 * bits) != 0) {
    constant(scratch_register, number);
    return three(a64::add_x, to, a, scratch_register);
  }
  const Word op = negative ? a64::sub_number : a64::add_number;
  const auto upper = static_cast<Word>(size >> bits), lower = static_cast<Word>(size & low);
  if (upper != 0) put(op | Word{1} << 22 | upper << 10 | a << 5 | to);
  if (lower != 0 || upper == 0) put(op | lower << 10 | (upper != 0 ? to : a) << 5 | to);
}

void Assembler::constant(unsigned to, std::int64_t number) {
  const bool negative = number < 0;
  const auto bits = static_cast<std::uint64_t>(negative ? ~number : number);
  put((negative ? a64::movn : a64::movz) | static_cast<Word>(bits & 0xffff) << 5 | to);
  for (unsigned k = 1; k < 4; ++k) {
    if (bits >> (16 * k) == 0) break;
    const auto part = static_cast<Word>(static_cast<std::uint64_t>(number) >> (16 * k) & 0xffff);
    put(a64::movk | k << 21 | part << 5 | to);
  }
}

void Assembler::access(const a64::Access& access, unsigned r, unsigned base, std::int64_t offset) {
  const std::int64_t size = access.size;
  if (offset >= 0 && offset % size == 0 && offset / size < 4096)
    return put(access.scaled | static_cast<Word>(offset / size) << 10 | base << 5 | r);
  if (offset >= -256 && offset < 256)
    return put(access.unscaled | (static_cast<Word>(offset) & 0x1ff) << 12 | base << 5 | r);
  add(address_register, base, offset);
  put(access.scaled | address_register << 5 | r);
}

void Assembler::enter() {
  add(a64::sp, a64::sp, -saved_bytes);
  saved_vectors(a64::stp_d);
}

void Assembler::leave() {
  saved_vectors(a64::ldp_d);
  add(a64::sp, a64::sp, saved_bytes);
}

void Assembler::saved_vectors(Word op) {
  for (unsigned n = 0; n < 8; n += 2) put(op | n << 15 | (9 + n) << 10 | a64::sp << 5 | (8 + n));
}

void Assembler::refer(Word op, Label& label) {
  put(op);
  const std::size_t at = words_.size() - 1;
  if (label.at_ == Label::unknown)
    label.uses_.push_back(at);
  else
    patch(at, label.at_);
}

void Assembler::bind(Label& label) {
  label.at_ = words_.size();
  for (const std::size_t use : label.uses_) patch(use, label.at_);
  label.uses_.clear();
}

void Assembler::patch(std::size_t at, std::size_t to) {
  Word& word = words_[at];
  std::int64_t distance = static_cast<std::int64_t>(to) - static_cast<std::int64_t>(at);
  // The two last bits of a distance in bytes are apart, and zero.
  const DistanceField field = is_adr(word) ? DistanceField{5, 19} : distance_field(word);
  const std::int64_t limit = std::int64_t{1} << (field.bits - 1);
  if (distance < -limit || distance >= limit)
    throw std::length_error("a branch in generated code is too long");
  const Word mask = (Word{1} << field.bits) - 1;
  word |= (static_cast<Word>(distance) & mask) << field.first;
}

void Assembler::align(std::size_t bytes) {
  while (words_.size() * sizeof(Word) % bytes != 0) put(nop);
}

void Assembler::data(std::span<const std::uint8_t> bytes) {
  const std::size_t at = words_.size();
  words_.resize(at + (bytes.size() + sizeof(Word) - 1) / sizeof(Word));
  if (!bytes.empty()) std::memcpy(&words_[at], bytes.data(), bytes.size());
}

}  // namespace gdr::jit::arm64
