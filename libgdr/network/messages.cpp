#include "libgdr/network/messages.hpp"

#include <type_traits>
#include <utility>

#include "libgdr/network/message_bytes.hpp"

namespace gdr::network {
namespace {

/// Counts beyond this are not those of any board; sums of some of them stay in range.
constexpr std::uint64_t max_count = std::uint64_t{1} << 40;

struct ListHeader {
  std::uint64_t number, flags, commands, payload_words;
};

struct ReplyHeader {
  std::uint64_t number;
  std::uint32_t status, category;
  WorkCounts counts;
  std::uint64_t fast_runs, fallback_runs, gpu_runs;
  double compile_seconds, busy_seconds;
  std::uint64_t reason_bytes, message_bytes, result_words;
};
static_assert(std::is_trivially_copyable_v<ReplyHeader>);

}  // namespace

Bytes encode_list(std::uint64_t number, std::uint32_t flags, const CommandList& list,
                  std::span<const std::uint64_t> payload_words) {
  std::uint64_t words = 0;
  for (const std::uint64_t n : payload_words) words += n;
  MessageWriter out(sizeof(ListHeader) + list.commands.size() * sizeof(Command) + words * 8);
  const ListHeader header{number, flags, list.commands.size(), words};
  out.put(&header, sizeof(header));
  std::uint64_t at = 0;
  for (std::size_t k = 0; k < list.commands.size(); ++k) {
    Command c = list.commands[k];
    c.payload = at;
    at += payload_words[k];
    out.put(&c, sizeof(c));
  }
  for (std::size_t k = 0; k < list.commands.size(); ++k)
    out.put(list.words_from(list.commands[k].payload).data(), payload_words[k] * 8);
  return out.take();
}

ListMessage decode_list(const Bytes& message) {
  MessageReader in(message);
  ListHeader header{};
  in.get(&header, sizeof(header));
  ListMessage m;
  m.number = header.number;
  m.flags = static_cast<std::uint32_t>(header.flags);
  m.list.commands = in.items<Command>(header.commands);
  m.list.payload = in.items<std::uint64_t>(header.payload_words);
  in.end();
  for (const Command& c : m.list.commands) {
    const bool in_range = c.payload <= header.payload_words && c.count <= max_count &&
                          c.first <= max_count && c.targets <= max_count;
    if (!in_range) malformed_message();
  }
  return m;
}

Bytes encode_reply(const Reply& r) {
  const ReplyHeader header{r.number,           static_cast<std::uint32_t>(r.status),
                           r.category,         r.counts,
                           r.engine.fast_runs, r.engine.fallback_runs,
                           r.engine.gpu_runs,  r.engine.compile_seconds,
                           r.busy_seconds,     r.engine.reason.size(),
                           r.message.size(),   r.results.size()};
  MessageWriter out(sizeof(header) + r.engine.reason.size() + r.message.size() +
                    r.results.size() * 8);
  out.put(&header, sizeof(header));
  out.put(r.engine.reason.data(), r.engine.reason.size());
  out.put(r.message.data(), r.message.size());
  out.put(r.results.data(), r.results.size() * 8);
  return out.take();
}

Reply decode_reply(const Bytes& message) {
  MessageReader in(message);
  ReplyHeader header{};
  in.get(&header, sizeof(header));
  Reply r;
  r.number = header.number;
  r.status = static_cast<ReplyStatus>(header.status);
  r.category = header.category;
  r.counts = header.counts;
  r.engine.fast_runs = header.fast_runs;
  r.engine.fallback_runs = header.fallback_runs;
  r.engine.gpu_runs = header.gpu_runs;
  r.engine.compile_seconds = header.compile_seconds;
  r.busy_seconds = header.busy_seconds;
  r.engine.reason = in.text(header.reason_bytes);
  r.message = in.text(header.message_bytes);
  r.results = in.items<std::uint64_t>(header.result_words);
  in.end();
  return r;
}

}  // namespace gdr::network
