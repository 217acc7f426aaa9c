#include "emulator/engine/native/codegen/to_ir.hpp"

#include <utility>
#include <vector>

#include "emulator/engine/jit/order.hpp"
#include "emulator/engine/native/codegen/node_lowering.hpp"
#include "emulator/engine/native/codegen/operation_table.hpp"
#include "emulator/engine/native/codegen/segment_stores.hpp"

namespace gdr::native {
namespace {

/// One work item's code. Memory operations are added after scheduling.
IrSegment lowered_item(const CodeContext& context, jit::ConstantPool& pool, const Segment& segment,
                       CarriedStores stores, unsigned resident) {
  const Graph& graph = segment.graph;
  SegmentValues values(context, pool, segment);
  values.keep_carried(segment, resident);
  NodeLowering nodes(values);
  for (std::uint32_t n = 0; n < graph.size(); ++n)
    if (values.selection.makes_operation(n)) values.set(n, nodes.lower(n));
  const auto is_resident = [&](const Store& store) {
    return stores == CarriedStores::Loop && store.has_place() && values.is_kept(store.slot);
  };
  for (const Store& store : segment.stores) {
    if (!is_resident(store)) continue;
    const jit::ValueId out = values.value(value_behind(graph, store.value));
    values.block.carried.push_back(
        {values.carried_in(store.slot), out,
         SegmentValues::place_at(context.carried(base_carried, store.slot))});
  }
  std::vector<jit::ValueId> roots;
  for (const Store& store : segment.stores) {
    const bool never = store.area == Store::Area::Append && graph.is_constant(store.value);
    if (store.area == Store::Area::Test)
      roots.push_back(values.mask(store.value));
    else if (!never)
      roots.push_back(values.value(value_behind(graph, store.value)));
  }
  IrSegment made;
  made.pressure = jit::order_for_registers(values.block, roots);
  SegmentStores memory(values, stores);
  for (const Store& store : segment.stores) {
    if (!store.has_place() || is_resident(store)) continue;
    made.in_memory = made.in_memory || stores == CarriedStores::Loop;
    memory.add(store);
  }
  memory.weave_into_code();
  for (std::size_t k = 0; k < segment.stores.size(); ++k)
    if (segment.stores[k].area == Store::Area::Test)
      values.block.add(jit::Op::Leave, jit::Type::Mask, {roots[k], jit::no_value, jit::no_value});
  made.block = std::move(values.block);
  return made;
}

}  // namespace

jit::VectorTarget vector_target(Target target) noexcept {
  return jit::vector_target(target.isa, target.precision == Precision::Float);
}

IrSegment to_ir(const CodeContext& context, jit::ConstantPool& pool, const Segment& segment,
                unsigned copies, CarriedStores stores, unsigned resident) {
  IrSegment made = lowered_item(context, pool, segment, stores, resident);
  // Work items are consecutive; other operands are shared.
  made.block = jit::interleaved(made.block, copies, [&](jit::Place p, unsigned copy) {
    if (p.base == base_items || p.base == base_carried || p.base == base_next) {
      p.offset += static_cast<std::int32_t>(copy * context.kernel.layout.bytes());
    }
    return p;
  });
  return made;
}

}  // namespace gdr::native
