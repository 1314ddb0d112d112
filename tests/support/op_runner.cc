#include "support/op_runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/error.h"
#include "ops/support/elements.h"

namespace nxrt::test {
namespace {

const ops::OpDef& definition(const Node& node) {
  const int opset = node.opset == 0 ? std::numeric_limits<int>::max() : node.opset;
  const ops::OpDef* found = ops::find_op(node.domain, node.op, opset);
  if (!found) {
    throw Error(Code::not_found, fmt::format("no operator {}:{} at opset {}", node.domain, node.op, node.opset),
                place_of(node));
  }
  return *found;
}

Node make_node(const std::string& op, const std::vector<bool>& present, const OpRun& how) {
  Node node;
  node.name = "tested";
  node.domain = how.domain;
  node.op = op;
  node.opset = how.opset;
  node.attributes = how.attributes;
  int32_t next = 0;
  for (const bool given : present) node.inputs.push_back(given ? ValueId(next++) : kNoValue);
  for (int i = 0; i < how.outputs; ++i) node.outputs.push_back(ValueId(next++));
  return node;
}

void poison(DType dtype, void* data, int64_t bytes) {
  std::memset(data, 0xA5, static_cast<size_t>(bytes));
  if (dtype == DType::f32) {
    float* f = static_cast<float*>(data);
    for (int64_t i = 0; i < bytes / 4; ++i) f[i] = std::numeric_limits<float>::quiet_NaN();
  }
}

// What infer and prepare see of a node's inputs.
ops::NodeView view_of(const Node& node, const std::vector<Tensor>& inputs, const std::set<int>& constant_inputs) {
  std::vector<TensorType> types;
  std::vector<const Tensor*> constants;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = inputs[i];
    types.push_back(x ? TensorType{x.dtype(), SymShape(x.shape()), ops::elements_of(x)} : TensorType{});
    constants.push_back(x && constant_inputs.count(static_cast<int>(i)) ? &x : nullptr);
  }
  return {node, std::move(types), std::move(constants), "test.onnx"};
}

// Concrete output shapes: from infer when it knows them, else from the operator's resolve.
std::vector<Shape> output_shapes(const ops::OpDef& def, const ops::NodeView& view, const ops::Args& args,
                                 const std::vector<TensorType>& types) {
  std::vector<Shape> shapes;
  for (const TensorType& type : types) {
    const auto shape = type.shape ? type.shape->constant() : std::nullopt;
    if (!shape) {
      if (!def.resolve) throw Error(Code::internal, "infer left a shape open: " + type.text(), view.at());
      return def.resolve(view, args);
    }
    shapes.push_back(*shape);
  }
  return shapes;
}

ops::Args::Slot slot_of(Tensor& tensor) { return {tensor.raw_mutable(), tensor.shape(), tensor.dtype()}; }

void run_kernel(const ops::Kernel& kernel, ops::Args& args, Workers& workers) {
  const int64_t bytes = kernel.workspace ? kernel.workspace(args, workers.width()) : 0;
  Tensor scratch = Tensor::uninitialized(DType::u8, {bytes + 64});
  std::memset(scratch.raw_mutable(), 0xA5, static_cast<size_t>(bytes + 64));
  args.workspace_bytes = static_cast<std::byte*>(scratch.raw_mutable());
  kernel.run(args, workers);
  for (int64_t i = bytes; i < bytes + 64; ++i) {
    EXPECT_EQ(scratch.data<uint8_t>()[i], 0xA5) << "the kernel wrote past its workspace of " << bytes << " bytes";
  }
}

}  // namespace

std::vector<Tensor> run_node(const Node& node, const std::vector<Tensor>& inputs, const OpRun& how) {
  const ops::OpDef& def = definition(node);
  const ops::NodeView view = view_of(node, inputs, how.constant_inputs);
  const std::vector<TensorType> types = def.infer(view);
  Workers workers(how.width);
  ops::Prepare with{how.cpu ? *how.cpu : kernels_for(Isa::scalar), workers};
  const ops::Kernel kernel = def.prepare ? def.prepare(view, with) : ops::Kernel();

  std::vector<Tensor> held = inputs;
  std::vector<ops::Args::Slot> in, out;
  for (Tensor& x : held) in.push_back(slot_of(x));
  for (const int packed : kernel.packed_inputs) in[static_cast<size_t>(packed)].data = nullptr;
  ops::Args args;
  args.in_slots = in;
  args.paged = how.paged;

  const std::vector<Shape> shapes = output_shapes(def, view, args, types);
  if (def.view) return {inputs[0].reshaped(shapes[0])};
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Tensor& y = outputs.emplace_back();
    if (node.outputs[i] == kNoValue) continue;
    y = Tensor::uninitialized(types.at(i).dtype, shapes.at(i));
    if (how.in_place && i == 0 && kernel.in_place >= 0) {
      const size_t source = static_cast<size_t>(kernel.in_place);
      std::memcpy(y.raw_mutable(), inputs[source].raw(), static_cast<size_t>(y.bytes()));
      in[source].data = y.raw_mutable();
    } else {
      poison(y.dtype(), y.raw_mutable(), y.bytes());
    }
  }
  for (Tensor& y : outputs) out.push_back(slot_of(y));
  args.out_slots = out;
  run_kernel(kernel, args, workers);
  return outputs;
}

std::vector<Tensor> run_op_outputs(const std::string& op, const std::vector<Tensor>& inputs, const OpRun& how) {
  std::vector<bool> present;
  for (const Tensor& x : inputs) present.push_back(static_cast<bool>(x));
  return run_node(make_node(op, present, how), inputs, how);
}

Tensor run_op(const std::string& op, const std::vector<Tensor>& inputs, const OpRun& how) {
  return run_op_outputs(op, inputs, how).at(0);
}

std::vector<TensorType> infer_op(const std::string& op, const std::vector<TensorType>& inputs, const OpRun& how) {
  std::vector<bool> present;
  for (const TensorType& type : inputs) present.push_back(type.dtype != DType::none);
  const Node node = make_node(op, present, how);
  const ops::NodeView view(node, inputs, std::vector<const Tensor*>(inputs.size(), nullptr), "test.onnx");
  return definition(node).infer(view);
}

Tensor random_f32(const Shape& shape, float low, float high, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  Tensor x = Tensor::uninitialized(DType::f32, shape);
  for (int64_t i = 0; i < x.count(); ++i) x.data<float>()[i] = distribution(generator);
  return x;
}

Tensor random_i64(const Shape& shape, int64_t low, int64_t high, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int64_t> distribution(low, high);
  Tensor x = Tensor::uninitialized(DType::i64, shape);
  for (int64_t i = 0; i < x.count(); ++i) x.data<int64_t>()[i] = distribution(generator);
  return x;
}

namespace {

double element(const Tensor& x, int64_t i) {
  const size_t at = static_cast<size_t>(i);
  switch (x.dtype()) {
    case DType::f32: return x.span<float>()[at];
    case DType::f64: return x.span<double>()[at];
    case DType::f16: return to_float(static_cast<const Half*>(x.raw())[at]);
    case DType::bf16: return to_float(static_cast<const BFloat16*>(x.raw())[at]);
    case DType::i8: return x.span<int8_t>()[at];
    case DType::u8: return x.span<uint8_t>()[at];
    case DType::i16: return x.span<int16_t>()[at];
    case DType::u16: return x.span<uint16_t>()[at];
    case DType::i32: return x.span<int32_t>()[at];
    case DType::u32: return x.span<uint32_t>()[at];
    case DType::i64: return static_cast<double>(x.span<int64_t>()[at]);
    case DType::u64: return static_cast<double>(x.span<uint64_t>()[at]);
    case DType::boolean: return x.span<bool>()[at] ? 1 : 0;
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace

Tensor to_f32(const Tensor& tensor) {
  Tensor y = Tensor::uninitialized(DType::f32, tensor.shape());
  for (int64_t i = 0; i < y.count(); ++i) y.data<float>()[i] = static_cast<float>(element(tensor, i));
  return y;
}

Tensor cast_from_f32(const Tensor& x, DType dtype) {
  Tensor y = Tensor::uninitialized(dtype, x.shape());
  for (int64_t i = 0; i < y.count(); ++i) {
    const float value = x.data<float>()[i];
    switch (dtype) {
      case DType::f16: static_cast<Half*>(y.raw_mutable())[i] = to_half(value); break;
      case DType::bf16: static_cast<BFloat16*>(y.raw_mutable())[i] = to_bfloat16(value); break;
      case DType::f64: y.data<double>()[i] = value; break;
      default: y.data<float>()[i] = value; break;
    }
  }
  return y;
}

void expect_near(const Tensor& actual, const Tensor& expected, float tolerance) {
  ASSERT_EQ(name_of(actual.dtype()), name_of(expected.dtype()));
  ASSERT_EQ(actual.shape().text(), expected.shape().text());
  int shown = 0;
  for (int64_t i = 0; i < actual.count() && shown < 5; ++i) {
    const double a = element(actual, i), e = element(expected, i);
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    if (std::abs(a - e) <= tolerance * std::max(1.0, std::abs(e))) continue;
    ADD_FAILURE() << "element " << i << " is " << a << ", expected " << e;
    ++shown;
  }
}

void expect_equal(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(name_of(actual.dtype()), name_of(expected.dtype()));
  ASSERT_EQ(actual.shape().text(), expected.shape().text());
  if (actual.bytes() == 0 || std::memcmp(actual.raw(), expected.raw(), static_cast<size_t>(actual.bytes())) == 0)
    return;
  for (int64_t i = 0; i < actual.count(); ++i) {
    const double a = element(actual, i), e = element(expected, i);
    if (a != e) FAIL() << "element " << i << " is " << a << ", expected " << e;
  }
  FAIL() << "bytes differ (signed zeros or NaN payloads)";
}

void expect_error(Code code, const std::string& what, const std::function<void()>& body) {
  try {
    body();
    ADD_FAILURE() << "expected an Error that says: " << what;
  } catch (const Error& error) {
    EXPECT_STREQ(name_of(error.code()), name_of(code));
    EXPECT_NE(error.message().find(what), std::string::npos) << error.text();
    EXPECT_FALSE(error.at().empty()) << error.text();
  }
}

}  // namespace nxrt::test
