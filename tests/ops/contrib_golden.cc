#include "ops/contrib_golden.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace nxrt::test {
namespace {

using Json = nlohmann::json;
using Bytes = std::vector<char>;

std::vector<char> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << "missing " << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

Tensor tensor_of(const Json& json, const Bytes& bytes) {
  if (json.is_null()) return {};
  const auto dims = json["shape"].get<std::vector<int64_t>>();
  const DType dtype = dtype_named(json["dtype"].get<std::string>());
  Tensor tensor = Tensor::uninitialized(dtype, Shape(dims));  // a copy: the file aligns nothing
  std::memcpy(tensor.raw_mutable(), bytes.data() + json["at"].get<size_t>(), static_cast<size_t>(tensor.bytes()));
  return tensor;
}

Attribute attribute_of(const Json& json) {
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number_float()) return json.get<float>();
  return json.get<std::string>();
}

void expect_specified(const Tensor& actual, const Tensor& expected, float tolerance) {
  ASSERT_EQ(name_of(actual.dtype()), name_of(expected.dtype()));
  ASSERT_EQ(actual.shape().text(), expected.shape().text());
  const Tensor a = to_f32(actual), e = to_f32(expected);
  int shown = 0;
  for (int64_t i = 0; i < a.count() && shown < 4; ++i) {
    const float x = a.data<float>()[i], y = e.data<float>()[i];
    if (std::isnan(y) || std::abs(x - y) <= tolerance * std::max(1.0f, std::abs(y))) continue;
    ADD_FAILURE() << "element " << i << " is " << x << ", expected " << y;
    ++shown;
  }
}

}  // namespace

void replay_golden(const std::string& file, const Kernels& cpu, size_t at_least) {
  const std::string base = NXRT_SOURCE_DIR "/tests/golden/ops/" + file;
  const std::vector<char> text = contents(base + ".json");
  const Bytes bytes = contents(base + ".bin");
  const Json cases = Json::parse(text.begin(), text.end(), nullptr, false);
  ASSERT_TRUE(cases.is_array());
  ASSERT_GE(cases.size(), at_least);
  for (const Json& test : cases) {
    for (const int width : {1, 3}) {
      SCOPED_TRACE(test["name"].get<std::string>() + ", workers " + std::to_string(width));
      OpRun how{.domain = test["domain"].get<std::string>(),
                .outputs = static_cast<int>(test["outputs"].size()),
                .cpu = &cpu,
                .width = width};
      for (const auto& [name, value] : test["attributes"].items()) how.attributes[name] = attribute_of(value);
      for (const Json& i : test["constants"]) how.constant_inputs.insert(i.get<int>());
      std::vector<Tensor> inputs, expected;
      for (const Json& x : test["inputs"]) inputs.push_back(tensor_of(x, bytes));
      for (const Json& y : test["outputs"]) expected.push_back(tensor_of(y, bytes));
      const std::vector<Tensor> actual = run_op_outputs(test["op"].get<std::string>(), inputs, how);
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t i = 0; i < actual.size(); ++i) {
        SCOPED_TRACE("output " + std::to_string(i));
        if (expected[i]) expect_specified(actual[i], expected[i], test["tolerance"].get<float>());
      }
    }
  }
}

}  // namespace nxrt::test
