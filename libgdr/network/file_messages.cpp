#include "libgdr/network/file_messages.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "libgdr/network/message_bytes.hpp"

namespace gdr::network {
namespace {

constexpr std::uint64_t max_texts = 1 << 20;

struct RequestHeader {
  std::uint64_t number, action, offset, bytes, checksum, texts, data_bytes;
};

struct FileReplyHeader {
  std::uint64_t number;
  std::uint32_t answer, category;
  std::uint64_t bytes, checksum, version, sums, texts, data_bytes;
};

std::size_t size_of(const std::vector<std::string>& texts) {
  return std::accumulate(
      texts.begin(), texts.end(), std::size_t{0},
      [](std::size_t sum, const std::string& s) { return sum + sizeof(std::uint64_t) + s.size(); });
}

void put_texts(MessageWriter& out, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const std::uint64_t bytes = text.size();
    out.put(&bytes, sizeof(bytes));
    out.put(text.data(), bytes);
  }
}

std::vector<std::string> get_texts(MessageReader& in, std::uint64_t count) {
  if (count > max_texts) malformed_message();
  std::vector<std::string> texts;
  for (std::uint64_t k = 0; k < count; ++k) {
    std::uint64_t bytes = 0;
    in.get(&bytes, sizeof(bytes));
    texts.push_back(in.text(bytes));
  }
  return texts;
}

}  // namespace

Bytes encode_request(const FileRequest& r) {
  const RequestHeader header{r.number,     static_cast<std::uint64_t>(r.action),
                             r.offset,     r.bytes,
                             r.checksum,   r.texts.size(),
                             r.data.size()};
  MessageWriter out(sizeof(header) + size_of(r.texts) + r.data.size());
  out.put(&header, sizeof(header));
  put_texts(out, r.texts);
  out.put(r.data.data(), r.data.size());
  return out.take();
}

FileRequest decode_request(const Bytes& message) {
  MessageReader in(message);
  RequestHeader header{};
  in.get(&header, sizeof(header));
  FileRequest r{header.number,
                static_cast<FileAction>(header.action),
                header.offset,
                header.bytes,
                header.checksum,
                {},
                {}};
  r.texts = get_texts(in, header.texts);
  r.data = in.items<std::byte>(header.data_bytes);
  in.end();
  return r;
}

Bytes encode_file_reply(const FileReply& r) {
  const FileReplyHeader header{r.number,      static_cast<std::uint32_t>(r.answer),
                               r.category,    r.bytes,
                               r.checksum,    r.version,
                               r.sums.size(), r.texts.size(),
                               r.data.size()};
  MessageWriter out(sizeof(header) + r.sums.size() * 8 + size_of(r.texts) + r.data.size());
  out.put(&header, sizeof(header));
  out.put(r.sums.data(), r.sums.size() * 8);
  put_texts(out, r.texts);
  out.put(r.data.data(), r.data.size());
  return out.take();
}

FileReply decode_file_reply(const Bytes& message) {
  MessageReader in(message);
  FileReplyHeader header{};
  in.get(&header, sizeof(header));
  FileReply r{header.number,
              static_cast<FileAnswer>(header.answer),
              header.category,
              header.bytes,
              header.checksum,
              header.version,
              {},
              {},
              {}};
  r.sums = in.items<std::uint64_t>(header.sums);
  r.texts = get_texts(in, header.texts);
  r.data = in.items<std::byte>(header.data_bytes);
  in.end();
  return r;
}

std::vector<driver::ServerFile> listed_files(const FileReply& reply) {
  std::vector<driver::ServerFile> files;
  for (std::size_t k = 0; k < std::min(reply.texts.size(), reply.sums.size()); ++k) {
    const std::string& name = reply.texts[k];
    if (name.empty() || name == "." || name == ".." ||
        name.find_first_of(std::string_view("/\0", 2)) != std::string::npos)
      throw Error(
          ErrorCategory::Device,
          "the server lists a file whose name is empty, '.', '..', or contains '/' or zero; "
          "nothing is written under such a name");
    files.push_back({name, true, (reply.sums[k] & 1) != 0, reply.sums[k] >> 1});
  }
  return files;
}

}  // namespace gdr::network
