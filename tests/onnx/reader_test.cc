// The oracle is the onnx package: tests/golden/onnx/make_models.py writes the models and what it reads in them.
#include "onnx/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "graph/text.h"

namespace nxrt {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::filesystem::path kGolden = NXRT_SOURCE_DIR "/tests/golden/onnx";

std::string hex_of(const Tensor& tensor) {
  std::string hex;
  for (int64_t i = 0; i < tensor.bytes(); ++i) {
    static constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<const uint8_t*>(tensor.raw())[i];
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return hex;
}

// dim_param → the text of our dim; only what is no expression changes.
std::string dim_text(const json& dim) {
  if (dim.is_number()) return std::to_string(dim.get<int64_t>());
  return dim == "batch-size" ? "'batch-size'" : dim == "past + now" ? "now + past" : dim.get<std::string>();
}

void expect_value(const Graph& graph, ValueId id, const json& expected) {
  const Value& value = graph.value(id);
  SCOPED_TRACE(value.name);
  EXPECT_EQ(value.name, expected["name"].get<std::string>());
  EXPECT_EQ(static_cast<int>(value.type.dtype), expected["dtype"].get<int>());
  ASSERT_EQ(value.type.shape.has_value(), !expected["dims"].is_null());
  if (!value.type.shape) return;
  ASSERT_EQ(value.type.shape->rank(), static_cast<int>(expected["dims"].size()));
  for (int i = 0; i < value.type.shape->rank(); ++i) {
    EXPECT_EQ((*value.type.shape)[i].text(), dim_text(expected["dims"][static_cast<size_t>(i)]));
  }
}

class OnnxReader : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  std::unique_ptr<Graph> read() const {
    return read_model(kGolden / (std::get<0>(GetParam()) + std::get<1>(GetParam())));
  }
  json expected() const {
    std::ifstream file(kGolden / "models.json");
    return json::parse(file)[std::get<0>(GetParam())];
  }
};

TEST_P(OnnxReader, ReadsWhatTheOnnxPackageReads) {
  const auto graph = read();
  const json golden = expected();
  ASSERT_EQ(graph->inputs().size(), golden["inputs"].size());
  for (size_t i = 0; i < graph->inputs().size(); ++i) expect_value(*graph, graph->inputs()[i], golden["inputs"][i]);
  ASSERT_EQ(graph->outputs().size(), golden["outputs"].size());
  for (size_t i = 0; i < graph->outputs().size(); ++i) expect_value(*graph, graph->outputs()[i], golden["outputs"][i]);
  for (const json& initializer : golden["initializers"]) {
    SCOPED_TRACE(initializer["name"].get<std::string>());
    const ValueId id = graph->find_value(initializer["name"].get<std::string>());
    ASSERT_NE(id, kNoValue);
    const Tensor& tensor = graph->value(id).constant.value();
    EXPECT_EQ(static_cast<int>(tensor.dtype()), initializer["dtype"].get<int>());
    EXPECT_EQ(tensor.shape(), Shape(initializer["dims"].get<std::vector<int64_t>>()));
    EXPECT_EQ(hex_of(tensor), initializer["hex"].get<std::string>());
  }
}

INSTANTIATE_TEST_SUITE_P(
    , OnnxReader,
    testing::Combine(testing::Values("typed", "external", "attributes", "subgraphs", "functions", "sparse", "unsorted"),
                     testing::Values(".onnx", ".textproto")),
    [](const auto& test) { return std::get<0>(test.param) + "_" + std::get<1>(test.param).substr(1); });

std::string body_text(const std::string& file) { return print_graph(*read_model(kGolden / file)); }

TEST(OnnxReaderGraphs, KeepAttributesHintsAndMetadata) {
  const auto graph = read_model(kGolden / "attributes.onnx");
  EXPECT_THAT(print_graph(*graph),
              HasSubstr("y, , z = test.domain.Everything<f = 1.5, floats = [1.0, -0.5], i = -3, ints = [1, -2, 3], "
                        "s = \"text\", strings = [\"a\", \"bü\"], t = i64[2] {5, 6}>(x, , x) as \"all\""));
  EXPECT_EQ(graph->value(graph->find_value("z")).type.text(), "f16[batch, 4]");
  EXPECT_EQ(graph->metadata, (std::map<std::string, std::string>{{"author", "me"}, {"empty", ""}}));
  EXPECT_EQ(graph->opsets, (std::map<std::string, int>{{"", 21}, {"test.domain", 3}}));
  EXPECT_EQ(graph->node(graph->order()[0]).opset, 3);
}

TEST(OnnxReaderGraphs, SortNodesThatTheFileDoesNot) {
  EXPECT_THAT(body_text("unsorted.onnx"), HasSubstr("  a = Relu(x)\n  c = Abs(a)\n  b = Neg(a)\n  y = Add(b, c)\n"));
}

TEST(OnnxReaderGraphs, InlineFunctions) {
  EXPECT_EQ(print_graph(*read_model(kGolden / "functions.onnx"), {.node_names = false}),
            "opset \"\" 21, \"local\" 1\nname \"functions\"\n"
            "(f32[N] x, f32[N] w) => (f32[N] y) {\n"
            "  first::t = LeakyRelu<alpha = 0.25>(x)\n"
            "  s = Mul(first::t, w)\n"
            "  same = Identity(x)\n"
            "  r::t = LeakyRelu<alpha = 0.25>(s)\n"
            "  r = Mul(r::t, w)\n"
            "  y = Add(r, same)\n"
            "}\n");
}

TEST(OnnxReaderGraphs, LinkBodiesToTheirSurroundings) {
  EXPECT_THAT(body_text("subgraphs.onnx"), HasSubstr("t = Add(state, bias)"));
  const auto graph = read_model(kGolden / "subgraphs.onnx");
  EXPECT_EQ(graph->users(graph->find_value("bias")).size(), 1u);
  EXPECT_EQ(graph->users(graph->find_value("x")).size(), 2u);
}

TEST(OnnxReaderGraphs, ShareTheBytesOfTheFile) {
  const auto graph = read_model(kGolden / "external.onnx");
  const Tensor& w = *graph->value(graph->find_value("w")).constant;
  const Tensor& b = *graph->value(graph->find_value("b")).constant;
  EXPECT_EQ(w.owner(), b.owner()) << "one mapping per file";
}

TEST(OnnxReaderGraphs, ReadRealModels) {
  const auto graph = read_model(NXRT_SOURCE_DIR "/tests/fixtures/builder_llama_int4/model.onnx");
  EXPECT_NE(graph->find_value("logits"), kNoValue);
  EXPECT_GT(graph->node_count(), 10);
}

}  // namespace
}  // namespace nxrt
