#include "emulator/engine/native/codegen/segment_stores.hpp"

#include <utility>

#include "emulator/engine/native/codegen/operation_table.hpp"

namespace gdr::native {

void SegmentStores::add(const Store& store) {
  const Graph& graph = v_.graph;
  std::vector<jit::Operation>& code = v_.block.code;
  const Ref behind = value_behind(graph, store.value);
  const bool in_place = store.area == Store::Area::Carried && carried_ == CarriedStores::InPlace;
  const bool at_end = is_leaf(graph[behind].op) || in_place || store.area == Store::Area::Total;
  std::vector<jit::Operation>& list = at_end ? at_end_ : after_[v_.value(behind)];
  // Preparatory operations are appended to the block and then moved to the list.
  const std::size_t before = code.size();
  jit::ValueId stored = v_.value(behind);
  if (graph[behind].kind == Kind::Mask) {
    if (v_.selection.is_complement(behind)) stored = v_.complement_of(stored);
    if (v_.has_mask_registers()) stored = v_.vector(jit::Op::MaskToLanes, stored);
  }
  list.insert(list.end(), code.begin() + static_cast<std::ptrdiff_t>(before), code.end());
  code.resize(before);
  jit::Operation o;
  o.op = jit::Op::Store;
  o.in[0] = stored;
  o.place =
      SegmentValues::place_at(v_.context.destination(store, in_place ? base_carried : base_next));
  list.push_back(o);
}

void SegmentStores::weave_into_code() {
  std::vector<jit::Operation> woven;
  for (const jit::Operation& o : v_.block.code) {
    woven.push_back(o);
    const auto found = after_.find(o.to);
    if (found == after_.end()) continue;
    woven.insert(woven.end(), found->second.begin(), found->second.end());
  }
  woven.insert(woven.end(), at_end_.begin(), at_end_.end());
  v_.block.code = std::move(woven);
}

}  // namespace gdr::native
