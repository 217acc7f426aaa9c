#include "bench/gpu_code/listing.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <utility>

namespace gdr::bench {
namespace {

/// An instruction, and the one that it may jump to.
struct Instruction {
  std::string text;
  std::optional<std::size_t> to;
  bool conditional = false;
};

std::vector<Instruction> instructions_of(const std::string& listing) {
  static const std::regex label(R"(^\s*(\.L_x_\d+):)"),
      instruction(R"(^\s*/\*[0-9a-f]{4,}\*/\s+(.*?);)");
  static const std::regex jump(R"(\bBRA\b.*?(\.L_x_\d+))");
  static const std::regex by_predicate(R"(^@|\bBRA(\.\w+)* !?U?P\d)");
  std::vector<Instruction> all;
  std::map<std::string, std::size_t> places;  // of labels
  std::istringstream lines(listing);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, label))
      places[match[1]] = all.size();
    else if (std::regex_search(line, match, instruction))
      all.push_back({match[1], std::nullopt, false});
  }
  for (Instruction& i : all) {
    if (!std::regex_search(i.text, match, jump)) continue;
    if (const auto place = places.find(match[1]); place != places.end()) i.to = place->second;
    i.conditional = std::regex_search(i.text, by_predicate);
  }
  return all;
}

/// Of a breadth-first search; empty if the end cannot be reached.
std::vector<std::string> shortest_way(const std::vector<Instruction>& all, std::size_t begin,
                                      std::size_t end) {
  std::map<std::size_t, std::size_t> reached_from{{begin, begin}};
  std::deque<std::size_t> front{begin};
  while (!front.empty() && !reached_from.contains(end)) {
    const std::size_t n = front.front();
    front.pop_front();
    const auto reach = [&](std::size_t next) {
      if (begin <= next && next <= end && reached_from.try_emplace(next, n).second)
        front.push_back(next);
    };
    if (all[n].to) reach(*all[n].to);
    if (!all[n].to || all[n].conditional) reach(n + 1);
  }
  std::vector<std::string> way;
  if (!reached_from.contains(end)) return way;
  for (std::size_t n = end;; n = reached_from[n]) {
    way.push_back(all[n].text);
    if (n == begin) break;
  }
  std::ranges::reverse(way);
  return way;
}

std::size_t count(const std::vector<std::string>& instructions, const std::regex& pattern) {
  return static_cast<std::size_t>(std::ranges::count_if(
      instructions, [&](const std::string& i) { return std::regex_search(i, pattern); }));
}

}  // namespace

std::size_t LoopCode::on_doubles() const {
  static const std::regex pattern(R"(\bD(ADD|MUL|FMA|SETP|MNMX))");
  return count(shortest_way, pattern);
}
std::size_t LoopCode::fused() const {
  static const std::regex pattern(R"(\b[DF]FMA\b)");
  return count(shortest_way, pattern);
}

std::vector<LoopCode> innermost_loops(const std::string& listing) {
  const std::vector<Instruction> all = instructions_of(listing);
  std::vector<std::pair<std::size_t, std::size_t>> loops;
  for (std::size_t n = 0; n < all.size(); ++n)
    if (all[n].to && *all[n].to <= n) loops.emplace_back(*all[n].to, n);
  std::vector<LoopCode> made;
  for (const auto& loop : loops) {
    const std::size_t begin = loop.first, end = loop.second;
    const bool has_inner = std::ranges::any_of(loops, [&](const auto& other) {
      return other != loop && begin <= other.first && other.second <= end;
    });
    if (!has_inner) made.push_back({shortest_way(all, begin, end), end - begin + 1});
  }
  return made;
}

}  // namespace gdr::bench
