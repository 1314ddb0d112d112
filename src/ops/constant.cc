// Constant, in each of its spellings, and ConstantOfShape.
#include <cstring>

#include "ops/support/elements.h"
#include "ops/support/infer.h"
#include "ops/support/strided_copy.h"

namespace nxrt::ops {
namespace {

Tensor value_of(const NodeView& node) {
  if (const Tensor* value = node.tensor("value")) return *value;
  if (node.has("value_float")) return Tensor::of<float>({}, {node.f32("value_float")});
  if (node.has("value_int")) return Tensor::of<int64_t>({}, {node.i64("value_int")});
  if (node.has("value_floats")) {
    const std::vector<float> values = node.floats("value_floats");
    return Tensor::of<float>({static_cast<int64_t>(values.size())}, std::span<const float>(values));
  }
  if (node.has("value_ints")) {
    const std::vector<int64_t> values = node.ints("value_ints");
    return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, std::span<const int64_t>(values));
  }
  node.unsupported("the constant has none of value, value_float, value_floats, value_int, value_ints");
}

std::vector<TensorType> infer_constant(const NodeView& node) {
  const Tensor value = value_of(node);
  return {with_elements({value.dtype(), SymShape(value.shape()), {}}, elements_of(value))};
}

Kernel prepare_constant(const NodeView& node, Prepare&) {
  return [value = value_of(node)](const Args& args, Workers&) {
    if (value.bytes() > 0) std::memcpy(args.out(0), value.raw(), static_cast<size_t>(value.bytes()));
  };
}

Tensor fill_of(const NodeView& node) {
  const Tensor* value = node.tensor("value");
  if (!value) return Tensor::of<float>({1}, {0.0f});
  if (value->count() != 1) node.fail("attribute 'value' has shape " + value->shape().text() + ", expected one element");
  if (bits_of(value->dtype()) % 8 != 0) node.unsupported("values smaller than a byte");
  return *value;
}

std::vector<TensorType> infer_of_shape(const NodeView& node) {
  node.expect_inputs(1, 1);
  node.expect_dtype(0, DType::i64);
  node.expect_rank(0, 1);
  const Tensor value = fill_of(node);
  const auto wanted = node.elements(0);
  if (!wanted) {
    const auto count = node.has_shape(0) ? node.shape(0)[0].constant() : std::nullopt;
    if (!count || *count > Shape::kMaxRank) return {{value.dtype(), {}, {}}};
    return {{value.dtype(), unknown_dims(static_cast<int>(*count)), {}}};
  }
  for (const Dim& dim : *wanted) {
    if (dim.constant().value_or(0) < 0) node.fail("the shape has a negative dim: " + SymShape(*wanted).text());
  }
  const SymShape shape(*wanted);
  const auto concrete = shape.constant();
  TensorType type{value.dtype(), shape, {}};
  const auto one = elements_of(value);
  if (!one || !concrete || concrete->count() > kMaxPropagatedElements) return {std::move(type)};
  return {with_elements(std::move(type), std::vector<Dim>(static_cast<size_t>(concrete->count()), one->front()))};
}

Kernel prepare_of_shape(const NodeView& node, Prepare&) {
  return [value = fill_of(node)](const Args& args, Workers& workers) {
    StridedCopy copy;
    copy.add(args.out_shape(0).count(), 0, 1);
    copy.run(value.raw(), args.out(0), bits_of(value.dtype()) / 8, workers);
  };
}

}  // namespace

std::span<const OpDef> constant() {
  static constexpr OpDef kTable[] = {
      {.name = "Constant", .since = 1, .infer = infer_constant, .prepare = prepare_constant},
      {.name = "ConstantOfShape", .since = 9, .infer = infer_of_shape, .prepare = prepare_of_shape},
  };
  return kTable;
}

}  // namespace nxrt::ops
