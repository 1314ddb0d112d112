// A cast of a cast that loses nothing is one cast.
#include "passes/pass.h"
#include "passes/support/match.h"

namespace nxrt::passes {
namespace {

// Value bits an integer type holds exactly, and the sign; a float holds integers up to its mantissa.
struct Range {
  int bits = 0;
  bool has_sign = false, is_real = false;
};

Range range_of(DType dtype) {
  switch (dtype) {
    case DType::boolean: return {1, false, false};
    case DType::u8: return {8, false, false};
    case DType::u16: return {16, false, false};
    case DType::u32: return {32, false, false};
    case DType::u64: return {64, false, false};
    case DType::i8: return {7, true, false};
    case DType::i16: return {15, true, false};
    case DType::i32: return {31, true, false};
    case DType::i64: return {63, true, false};
    case DType::f16: return {11, true, true};
    case DType::bf16: return {8, true, true};
    case DType::f32: return {24, true, true};
    case DType::f64: return {53, true, true};
    default: return {};
  }
}

// Does `to` hold every value of `from` exactly?
bool lossless(DType from, DType to) {
  if (from == to) return true;
  if (from == DType::f16 || from == DType::bf16) return to == DType::f32 || to == DType::f64;
  const Range a = range_of(from), b = range_of(to);
  if (a.bits == 0 || b.bits == 0 || to == DType::boolean) return false;
  if (a.is_real && !b.is_real) return false;
  return a.bits <= b.bits && (b.has_sign || !a.has_sign);
}

}  // namespace

bool fold_casts(Graph& graph, const PassContext&) {
  Rewriter edit(graph);
  for (const NodeId id : edit.nodes()) {
    if (!edit.alive(id) || !is_onnx(edit.node(id), "Cast")) continue;
    const ValueId middle = edit.node(id).inputs[0];
    const Node* first = edit.producer(middle, "Cast");
    if (!first) continue;
    const ValueId source = first->inputs[0];
    if (!lossless(edit.value(source).type.dtype, edit.value(middle).type.dtype)) continue;
    Node direct = edit.node(id);
    direct.inputs = {source};
    edit.become(id, std::move(direct));
  }
  return edit.changed();
}

}  // namespace nxrt::passes
