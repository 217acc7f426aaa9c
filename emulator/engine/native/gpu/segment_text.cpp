#include "emulator/engine/native/gpu/segment_text.hpp"

#include <set>

#include "emulator/engine/native/gpu/expression_text.hpp"
#include "emulator/engine/native/gpu/scaled_roots.hpp"

namespace gdr::native {

void SegmentText::write(const Segment& segment) {
  const Graph& g = segment.graph;
  const std::vector<bool> needed = without_root_parts(g, needed_nodes(segment));
  text_.line("{{");
  load_pairs(g, needed);
  for (std::uint32_t n = 0; n < g.size(); ++n)
    if (needed[n]) write_value(g, n);
  for (const Store& store : segment.stores)
    if (store.has_place()) write_store(g, store);  // else an append
  text_.line("}}");
}

void SegmentText::load_pairs(const Graph& g, const std::vector<bool>& needed) {
  if (!values_.in_pairs()) return;
  std::set<std::int32_t> pairs;
  for (std::uint32_t n = 0; n < g.size(); ++n)
    if (needed[n] && g[ref_to(n)].op == NodeOp::Source)
      pairs.insert(values_.source_word(g[ref_to(n)]) >> 1);
  for (const std::int32_t pair : pairs)
    text_.line("const bits2 {} = ((__global const bits2*)source)[{}];", ValueText::pair_name(pair),
               pair);
}

void SegmentText::write_value(const Graph& g, std::uint32_t n) {
  const Node& node = g[ref_to(n)];
  if (node.op == NodeOp::Append) {
    text_.line("{}", lists_.append(AppendKey::unpack(node.bits).list, ValueText::operand(g, node.a),
                                   ValueText::operand(g, node.b)));
    return;
  }
  text_.line("const {} v{} = {};", ValueText::type_name(node.kind), n,
             expression_text(c_, g, node));
}

void SegmentText::write_store(const Graph& g, const Store& store) {
  const Kind kind = g[store.value].kind;
  const std::string value = ValueText::operand(g, store.value);
  if (store.area == Store::Area::Carried)
    text_.line("c{} = {};", store.slot,
               ValueText::as_kind(value, kind, values_.carried_kind(store.slot)));
  else if (store.area == Store::Area::Total)
    text_.line("total{} = {};", store.slot, value);
  else
    text_.line("result[{}] = {};", store.slot * values_.lanes(), ValueText::stored(kind, value));
}

}  // namespace gdr::native
