// Runs one operator on tensors, as a session would: infer with the inputs' shapes, prepare, workspace, run. Outputs and
// workspace are poisoned first (NaN for floats, 0xA5 otherwise), so an element nobody writes shows.
//
//   expect_near(run_op("Add", {x, y}), expected, 1e-6f);
//   auto [values, indices] = two(run_op("TopK", {x, k}, {.attributes = {{"axis", int64_t{0}}}, .outputs = 2}));
//
// Errors: those of infer and prepare come through; an output shape infer can't tell and no resolve is a test failure.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "graph/graph.h"
#include "kernels/kernels.h"
#include "ops/op.h"

namespace nxrt::test {

struct OpRun {
  std::string domain;
  int opset = 0;  // 0: the newest version of the operator
  std::map<std::string, Attribute> attributes;
  int outputs = 1;
  std::set<int> constant_inputs;  // inputs given as initializers (packed weights); others are run-time tensors
  const Kernels* cpu = nullptr;   // default: scalar
  int width = 1;                  // worker threads
  const PagedStep* paged = nullptr;
  bool in_place = false;  // output 0 over the input the kernel allows
};

// A default Tensor (no dtype) is an omitted optional input.
std::vector<Tensor> run_op_outputs(const std::string& op, const std::vector<Tensor>& inputs, const OpRun& how = {});
Tensor run_op(const std::string& op, const std::vector<Tensor>& inputs, const OpRun& how = {});  // output 0

// The same for a node of a graph; its operator, version, attributes and outputs are the node's own.
std::vector<Tensor> run_node(const Node& node, const std::vector<Tensor>& inputs, const OpRun& how = {});

// Only the types: what infer answers for these inputs.
std::vector<TensorType> infer_op(const std::string& op, const std::vector<TensorType>& inputs, const OpRun& how = {});

Tensor random_f32(const Shape& shape, float low = -2.0f, float high = 2.0f, uint32_t seed = 1);
Tensor random_i64(const Shape& shape, int64_t low, int64_t high, uint32_t seed = 1);
Tensor to_f32(const Tensor& tensor);                 // from any float or integer type
Tensor cast_from_f32(const Tensor& x, DType dtype);  // to f16, bf16, f64 or f32

// Same shape and dtype; |actual - expected| <= tolerance * max(1, |expected|); NaN equals NaN.
void expect_near(const Tensor& actual, const Tensor& expected, float tolerance);
// Same shape, dtype and bytes.
void expect_equal(const Tensor& actual, const Tensor& expected);
// `body` throws Error with this code and a message that contains `what`.
void expect_error(Code code, const std::string& what, const std::function<void()>& body);

}  // namespace nxrt::test
