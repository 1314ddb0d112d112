#include "support/random_inputs.h"

#include <random>

namespace nxrt::test {
namespace {

template <class T, class Next>
void fill(Tensor& tensor, Next&& next) {
  for (int64_t i = 0; i < tensor.count(); ++i) tensor.data<T>()[i] = static_cast<T>(next());
}

Tensor random_tensor(DType dtype, const Shape& shape, std::mt19937& random) {
  Tensor tensor = Tensor::zeros(dtype, shape);
  const auto small = [&] { return static_cast<int64_t>(random() % 4); };
  const auto real = [&] { return std::uniform_real_distribution<float>(-2, 2)(random); };
  switch (dtype) {
    case DType::f32: fill<float>(tensor, real); break;
    case DType::f64: fill<double>(tensor, real); break;
    case DType::i32: fill<int32_t>(tensor, small); break;
    case DType::i64: fill<int64_t>(tensor, small); break;
    case DType::u8: fill<uint8_t>(tensor, small); break;
    case DType::boolean: fill<bool>(tensor, [&] { return random() % 2 == 1; }); break;
    default: break;  // zeros
  }
  return tensor;
}

}  // namespace

std::map<std::string, Tensor> random_inputs(const Graph& graph, uint32_t seed, Symbols symbols) {
  std::mt19937 random(seed);
  std::map<std::string, Tensor> inputs;
  const auto value_of = [&](const std::string& name) -> std::optional<int64_t> {
    return symbols.try_emplace(name, 2 + static_cast<int64_t>(symbols.size())).first->second;
  };
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    const SymShape shape = value.type.shape.value_or(SymShape{});
    std::vector<int64_t> dims;
    for (const Dim& dim : shape.dims()) dims.push_back(dim.evaluate(value_of).value_or(2));
    inputs[value.name] = random_tensor(value.type.dtype, Shape(dims), random);
  }
  return inputs;
}

}  // namespace nxrt::test
