// Joining output items of different chips and batches.
#include "libgdr/device/outputs.hpp"

#include <algorithm>

#include "emulator/chip/reduction.hpp"

namespace gdr {

OutputJoin::OutputJoin(const Program& program) {
  const LinkLayout layout = link_layout(program);
  words_ = layout.output_words;
  for (const LinkLayout::Field& field : layout.outputs)
    fields_.push_back(port_field(program.variables[field.variable], field));
  scratch_.resize(words_);
}

void OutputJoin::begin(std::size_t n) { joined_.assign(n * words_, 0); }

void OutputJoin::join(std::uint64_t* record, const std::uint64_t* other) {
  Flags ignored = no_flags;
  const auto word = [&](const PortField& f, const std::uint64_t* from) {
    return network_word(f, to_machine(f.conversion, f.width, host_bits(f, from), ignored));
  };
  std::ranges::fill(scratch_, std::uint64_t{0});
  for (const PortField& f : fields_) {
    const Long sum = reduce_node(f.reduce, word(f, record), word(f, other), ignored);
    put_host_bits(f, network_to_host(f, sum), scratch_.data());
  }
  std::ranges::copy(scratch_, record);
}

void OutputJoin::add(std::size_t first, std::size_t n, const std::uint64_t* words,
                     std::size_t records, bool fresh) {
  for (std::size_t k = 0; k < n; ++k) {
    std::uint64_t* const record = joined_.data() + (first + k) * words_;
    const std::uint64_t* const item = words + k * records * words_;
    if (fresh)
      std::copy_n(item, words_, record);
    else
      join(record, item);
  }
}

}  // namespace gdr
