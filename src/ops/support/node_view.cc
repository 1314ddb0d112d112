#include <fmt/format.h>

#include <utility>

#include "ops/op.h"
#include "ops/support/elements.h"

namespace nxrt::ops {
namespace {

constexpr std::string_view kAttributeKinds[] = {"an int",  "a float", "a string", "a tensor",
                                                "a graph", "ints",    "floats",   "strings"};

template <class T>
const T* attribute(const NodeView& node, std::string_view name, std::string_view expected) {
  const auto found = node.node().attributes.find(std::string(name));
  if (found == node.node().attributes.end()) return nullptr;
  if (const T* value = std::get_if<T>(&found->second)) return value;
  node.fail(fmt::format("attribute '{}' is {}, expected {}", name, kAttributeKinds[found->second.index()], expected));
}

template <class T>
T attribute_or(const NodeView& node, std::string_view name, std::string_view expected, std::optional<T> fallback) {
  if (const T* value = attribute<T>(node, name, expected)) return *value;
  if (fallback) return *std::move(fallback);
  node.fail(fmt::format("attribute '{}' is missing, expected {}", name, expected));
}

std::string list_of(std::initializer_list<DType> types) {
  std::string text;
  for (const DType* t = types.begin(); t != types.end(); ++t) {
    if (t != types.begin()) text += t + 1 == types.end() ? " or " : ", ";
    text += name_of(*t);
  }
  return text;
}

}  // namespace

NodeView::NodeView(const Node& node, std::vector<TensorType> inputs, std::vector<const Tensor*> constants,
                   std::string where)  // NOLINT(performance-unnecessary-value-param)
    : node_(node), inputs_(std::move(inputs)), constants_(std::move(constants)), at_(place(where, place_of(node))) {}

bool NodeView::has_input(int i) const {
  return i >= 0 && i < inputs() && node_.inputs[static_cast<size_t>(i)] != kNoValue;
}

bool NodeView::has_output(int i) const {
  return i >= 0 && i < outputs() && node_.outputs[static_cast<size_t>(i)] != kNoValue;
}

const TensorType& NodeView::input(int i) const {
  if (!has_input(i)) fail(fmt::format("input {} is missing", i));
  return inputs_[static_cast<size_t>(i)];
}

const Tensor* NodeView::constant(int i) const {
  return has_input(i) && i < static_cast<int>(constants_.size()) ? constants_[static_cast<size_t>(i)] : nullptr;
}

bool NodeView::has_shape(int i) const { return input(i).shape.has_value(); }

const SymShape& NodeView::shape(int i) const {
  const TensorType& type = input(i);
  if (!type.shape) unsupported(fmt::format("the rank of input {} is unknown", i), "export the model with known ranks");
  return *type.shape;
}

int NodeView::rank(int i) const { return shape(i).rank(); }

std::optional<std::vector<Dim>> NodeView::elements(int i) const {
  if (!has_input(i)) return std::nullopt;
  if (input(i).elements) return input(i).elements;
  const Tensor* tensor = constant(i);
  return tensor ? elements_of(*tensor) : std::nullopt;
}

std::optional<std::vector<int64_t>> NodeView::integers(int i) const {
  const auto dims = elements(i);
  if (!dims) return std::nullopt;
  std::vector<int64_t> values;
  values.reserve(dims->size());
  for (const Dim& dim : *dims) {
    const auto value = dim.constant();
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

bool NodeView::has(std::string_view name) const { return node_.attributes.count(std::string(name)) != 0; }

int64_t NodeView::i64(std::string_view name, std::optional<int64_t> fallback) const {
  return attribute_or<int64_t>(*this, name, "an int", fallback);
}

float NodeView::f32(std::string_view name, std::optional<float> fallback) const {
  return attribute_or<float>(*this, name, "a float", fallback);
}

std::string NodeView::str(std::string_view name, std::optional<std::string> fallback) const {
  return attribute_or<std::string>(*this, name, "a string", std::move(fallback));
}

std::vector<int64_t> NodeView::ints(std::string_view name, std::optional<std::vector<int64_t>> fallback) const {
  return attribute_or<std::vector<int64_t>>(*this, name, "ints", std::move(fallback));
}

std::vector<float> NodeView::floats(std::string_view name, std::optional<std::vector<float>> fallback) const {
  return attribute_or<std::vector<float>>(*this, name, "floats", std::move(fallback));
}

const Tensor* NodeView::tensor(std::string_view name) const { return attribute<Tensor>(*this, name, "a tensor"); }

int NodeView::axis(std::string_view name, int64_t fallback, int rank) const {
  const int64_t value = i64(name, fallback);
  if (value < -rank || value >= rank) {
    fail(fmt::format("attribute '{}' is {}, expected {} to {}", name, value, -rank, rank - 1));
  }
  return static_cast<int>(value < 0 ? value + rank : value);
}

int NodeView::axis_of(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) fail(fmt::format("axis is {}, expected {} to {}", axis, -rank, rank - 1));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

void NodeView::expect_inputs(int at_least, int at_most) const {
  if (inputs() < at_least || inputs() > at_most) {
    fail(fmt::format("the node has {} inputs, expected {}", inputs(),
                     at_least == at_most ? fmt::format("{}", at_least) : fmt::format("{} to {}", at_least, at_most)));
  }
  for (int i = 0; i < at_least; ++i) input(i);
}

void NodeView::expect_dtype(int i, DType dtype) const { expect_dtype(i, {dtype}); }

void NodeView::expect_dtype(int i, std::initializer_list<DType> any_of) const {
  const DType actual = input(i).dtype;
  if (actual == DType::none) return;  // not typed yet
  for (const DType dtype : any_of) {
    if (dtype == actual) return;
  }
  fail(fmt::format("input {} is {}, expected {}", i, name_of(actual), list_of(any_of)));
}

void NodeView::expect_same_dtype(int i, int j) const {
  const DType a = input(i).dtype, b = input(j).dtype;
  if (a == b || a == DType::none || b == DType::none) return;
  fail(fmt::format("input {} is {}, expected {} as input {}", j, name_of(b), name_of(a), i));
}

void NodeView::expect_rank(int i, int rank) const {
  if (has_shape(i) && shape(i).rank() != rank) {
    fail(fmt::format("input {} has shape {}, expected rank {}", i, shape(i).text(), rank));
  }
}

void NodeView::expect_shape(int i, const SymShape& expected) const {
  if (!has_shape(i)) return;
  const SymShape& actual = shape(i);
  bool agrees = actual.rank() == expected.rank();
  for (int d = 0; agrees && d < actual.rank(); ++d) agrees = !contradict(actual[d], expected[d]);
  if (!agrees) fail(fmt::format("input {} has shape {}, expected {}", i, actual.text(), expected.text()));
}

void NodeView::fail(std::string what, std::string fix) const {
  throw Error(Code::invalid_argument, std::move(what), at_, std::move(fix));
}

void NodeView::unsupported(std::string what, std::string fix) const {
  throw Error(Code::unsupported, std::move(what), at_, std::move(fix));
}

namespace {

bool is_one(const Dim& dim) { return dim.constant() == 1; }

}  // namespace

SymShape broadcast(const NodeView& node, const SymShape& a, const SymShape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<Dim> dims(static_cast<size_t>(rank));
  for (int d = 0; d < rank; ++d) {
    const int ia = d - (rank - a.rank()), ib = d - (rank - b.rank());
    const Dim x = ia < 0 ? Dim(1) : a[ia], y = ib < 0 ? Dim(1) : b[ib];
    Dim& out = dims[static_cast<size_t>(d)];
    const bool one_x = is_one(x), one_y = is_one(y);
    if (!one_x && !one_y && contradict(x, y)) {
      node.fail(fmt::format("shapes {} and {} do not broadcast", a.text(), b.text()));
    }
    // What stands beside a constant must be equal or 1; of two unrelated symbols either may be 1: the result is
    // unknown.
    if (!one_x && (one_y || same(x, y) || x.is_constant())) {
      out = x;
    } else if (one_x || y.is_constant()) {
      out = y;
    }
  }
  return SymShape(std::move(dims));
}

}  // namespace nxrt::ops
