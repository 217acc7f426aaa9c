#include "libgdr/device/reduction.hpp"

#include <algorithm>

#include "emulator/chip/reduction.hpp"

namespace gdr {

bool reduces_alike(const Program& a, const Program& b) {
  const auto fields = [](const Program& p) { return port_fields(p, link_layout(p).results); };
  return std::ranges::equal(fields(a), fields(b), {}, &PortField::reduce, &PortField::reduce);
}

SliceReduction::SliceReduction(const Program& program) {
  const LinkLayout layout = link_layout(program);
  result_words_ = layout.result_words;
  fields_ = port_fields(program, layout.results);
}

void SliceReduction::join(std::size_t slices, std::size_t n, const std::vector<std::uint64_t>& raw,
                          std::vector<std::uint64_t>& records) const {
  records.assign(n * result_words_, 0);
  std::vector<Long> parts(slices), keys(slices);
  Flags ignored = no_flags;
  for (std::size_t i = 0; i < n; ++i) {
    const auto read = [&](std::size_t field, std::vector<Long>& to) {
      for (std::size_t s = 0; s < slices; ++s) {
        const std::uint64_t* const word = raw.data() + (s * n + i) * raw_words() + 2 * field;
        to[s] = {u128{word[1]} << 64 | word[0]};
      }
    };
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      read(f, parts);
      const bool index = fields_[f].reduce == Reduce::Index;
      const auto key = static_cast<std::size_t>(std::max(0, fields_[f].key));
      if (index) read(key, keys);
      const Long sum = index ? reduce_index(fields_[key].reduce, keys, parts)
                             : reduce_tree(fields_[f].reduce, parts, ignored);
      put_host_bits(fields_[f], network_to_host(fields_[f], sum),
                    records.data() + i * result_words_);
    }
  }
}

OutputReduction::OutputReduction(const Program& program) {
  const LinkLayout layout = link_layout(program);
  words_ = layout.output_words;
  fields_ = port_fields(program, layout.outputs);
  scratch_.resize(words_);
}

void OutputReduction::begin(std::size_t n) {
  joined_.assign(n * words_, 0);
  records_log_ = false;
  log_.clear();
}

void OutputReduction::join(std::uint64_t* record, const std::uint64_t* other) {
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

void OutputReduction::add(std::size_t first, std::size_t n, const std::uint64_t* words,
                          std::size_t records, bool fresh) {
  if (records_log_) {
    Items& items = log_.emplace_back(Items{{first, n}, fresh, {}});
    for (std::size_t k = 0; k < n; ++k)
      items.words.insert(items.words.end(), words + k * records * words_,
                         words + (k * records + 1) * words_);
    return;
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::uint64_t* const record = joined_.data() + (first + k) * words_;
    const std::uint64_t* const item = words + k * records * words_;
    if (fresh)
      std::copy_n(item, words_, record);
    else
      join(record, item);
  }
}

std::vector<std::uint64_t> OutputReduction::logged_items(IndexRange range) const {
  std::vector<std::uint64_t> log;
  for (const Items& items : log_) {
    const std::size_t first = std::max(items.sources.first, range.first);
    const std::size_t end =
        std::min(items.sources.first + items.sources.count, range.first + range.count);
    if (first >= end) continue;
    log.insert(log.end(), {first, end - first, items.fresh ? 1U : 0U});
    const auto from =
        items.words.begin() + static_cast<std::ptrdiff_t>((first - items.sources.first) * words_);
    log.insert(log.end(), from, from + static_cast<std::ptrdiff_t>((end - first) * words_));
  }
  return log;
}

void OutputReduction::replay(std::span<const std::uint64_t> log, std::size_t before) {
  while (!log.empty()) {
    const std::size_t first = log[0], n = log[1];
    add(first - before, n, log.data() + 3, 1, log[2] != 0);
    log = log.subspan(3 + n * words_);
  }
}

}  // namespace gdr
