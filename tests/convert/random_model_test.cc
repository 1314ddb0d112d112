#include "convert/random_model.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <memory>

#include "convert/fixtures.h"
#include "convert/llama_shapes.h"
#include "graph/graph.h"
#include "graph/verifier.h"
#include "onnx/reader.h"
#include "package/model_spec.h"
#include "text/tokenizer.h"

namespace genai {
namespace {

namespace fs = std::filesystem;
using nxrt::Code;
using nxrt::Graph;
using nxrt::Shape;
using nxrt::Tensor;
using test::error_of;
using test::read_file;
using test::TemporaryFolder;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

using Json = nlohmann::json;

Json tiny_llama() {
  return {{"model_type", "llama"},       {"num_hidden_layers", 2},         {"hidden_size", 64},
          {"intermediate_size", 96},     {"num_attention_heads", 4},       {"num_key_value_heads", 2},
          {"vocab_size", 320},           {"max_position_embeddings", 128}, {"rms_norm_eps", 1e-5},
          {"tie_word_embeddings", false}};
}

const Tensor& constant(const Graph& graph, const std::string& name) {
  const nxrt::ValueId id = graph.find_value(name);
  EXPECT_TRUE(id.valid()) << name;
  return *graph.value(id).constant;
}

class RandomModel : public testing::Test {
 protected:
  fs::path shape(const Json& json) const {
    const fs::path file = top_.path() / "config.json";
    std::ofstream(file) << json;
    return file;
  }
  fs::path import(const Json& json, uint64_t seed = 0, const char* name = "m") const {
    const fs::path target = top_.path() / name;
    last_ = import_random_model({.shape = shape(json).string(), .target = target, .seed = seed}, nullptr);
    return target;
  }

  TemporaryFolder top_;
  mutable ImportReport last_;
};

TEST_F(RandomModel, IsAFolderThatOpensAndSaysWhatItIs) {
  const fs::path folder = import(tiny_llama(), 7);
  const ModelSpec spec = open_model_folder(folder);
  EXPECT_EQ(spec.vocab_size, 320);
  EXPECT_EQ(spec.context_length, 128);
  const auto graph = nxrt::read_model(folder / "model.onnx");
  nxrt::verify(*graph, "model.onnx");
  const Json config = Json::parse(read_file(folder / "config.json"), nullptr, false);
  EXPECT_EQ(config["random_weights"]["seed"], 7);
  EXPECT_THAT(read_file(folder / "LICENSE"), HasSubstr("random numbers"));
  EXPECT_THAT(last_.notes, ElementsAre(HasSubstr("random")));
  // 2 layers of q, k, v, o, three of the feed-forward and two norms; the last norm, the table, the head.
  EXPECT_EQ(last_.parameters, 2 * (64 * 64 * 2 + 64 * 32 * 2 + 64 * 96 * 3 + 2 * 64) + 64 + 2 * 320 * 64);
}

TEST_F(RandomModel, HoldsWhatAnInt4ImportHolds) {
  const auto graph = nxrt::read_model(import(tiny_llama()) / "model.onnx");
  const std::string down = "model.layers.1.mlp.down_proj.MatMul.weight";
  EXPECT_EQ(constant(*graph, down + "_Q4").shape(), (Shape{64, 3, 16}));
  EXPECT_EQ(constant(*graph, down + "_scales").shape(), (Shape{64, 3}));
  EXPECT_EQ(constant(*graph, "model.embed_tokens.weight_Q8").shape(), (Shape{320, 64}));
  EXPECT_EQ(constant(*graph, "lm_head.MatMul.weight_Q4").shape(), (Shape{320, 2, 16}));
}

TEST_F(RandomModel, ProductsKeepTheVariance) {
  const auto graph = nxrt::read_model(import(tiny_llama()) / "model.onnx");
  const std::string up = "model.layers.0.mlp.up_proj.MatMul.weight";
  const auto q = constant(*graph, up + "_Q4").span<uint8_t>();
  const auto scales = constant(*graph, up + "_scales").span<float>();
  double squares = 0;
  for (size_t i = 0; i < q.size(); ++i) {
    const double scale = scales[i / 16];
    squares += std::pow(scale * ((q[i] & 15) - 8), 2) + std::pow(scale * ((q[i] >> 4) - 8), 2);
  }
  EXPECT_NEAR(squares / 96, 1.0, 0.1);  // per output row: the sum over 64 weights
}

TEST_F(RandomModel, SeedAndNameDecideEveryByte) {
  const auto data = [](const fs::path& folder) { return read_file(folder / "model.onnx.data"); };
  const std::string first = data(import(tiny_llama(), 1, "a"));
  EXPECT_EQ(first, data(import(tiny_llama(), 1, "b")));
  const fs::path other = import(tiny_llama(), 2, "c");
  EXPECT_NE(first, data(other));
  const auto graph = nxrt::read_model(other / "model.onnx");
  const auto bytes = [&](const char* name) {
    const auto span = constant(*graph, name).span<uint8_t>();
    return std::vector<uint8_t>(span.begin(), span.end());
  };
  EXPECT_NE(bytes("model.layers.0.attn.q_proj.MatMul.weight_Q4"), bytes("model.layers.1.attn.q_proj.MatMul.weight_Q4"));
}

TEST_F(RandomModel, TheTokenizerSpeaksBytes) {
  const ModelSpec spec = open_model_folder(import(tiny_llama()));
  const auto tokenizer = Tokenizer::open(spec.folder / "tokenizer.json");
  const std::string text = "Grüße,\n\t€ 5";
  const auto ids = tokenizer->encode(text);
  EXPECT_EQ(ids.size(), text.size());
  EXPECT_EQ(tokenizer->decode(ids, false), text);
  EXPECT_EQ(tokenizer->vocab_size(), 320);
}

TEST_F(RandomModel, QwenHasItsBiasesAndNorms) {
  Json json = tiny_llama();
  json["model_type"] = "qwen2";
  const auto qwen2 = nxrt::read_model(import(json, 0, "qwen2") / "model.onnx");
  EXPECT_TRUE(qwen2->find_value("model.layers.0.attn.k_proj.Add.bias").valid());
  EXPECT_FALSE(qwen2->find_value("model.layers.0.attn.o_proj.Add.bias").valid());
  json["model_type"] = "qwen3";
  const auto qwen3 = nxrt::read_model(import(json, 0, "qwen3") / "model.onnx");
  EXPECT_TRUE(qwen3->find_value("model.layers.0.attn.q_norm.weight").valid());
}

TEST_F(RandomModel, SaysWhichKeyCannotBeBuilt) {
  const std::pair<std::pair<const char*, Json>, const char*> kBad[] = {
      {{"model_type", "gemma"}, "model_type"},
      {{"hidden_size", 80}, "hidden_size"},
      {{"hidden_size", nullptr}, "hidden_size"},
      {{"hidden_size", -1}, "hidden_size"},
      {{"num_key_value_heads", 3}, "num_key_value"},
      {{"intermediate_size", 100}, "intermediate_size"},
      {{"vocab_size", 100}, "vocab_size"},
      {{"hidden_act", "gelu"}, "hidden_act"},
      {{"rope_scaling", {{"rope_type", "yarn"}}}, "rope_scaling"},
      {{"num_hidden_layers", "two"}, "num_hidden_layers"},
  };
  for (const auto& [change, where] : kBad) {
    Json json = tiny_llama();
    json[change.first] = change.second;
    EXPECT_THAT(error_of([&] { import(json); }).at(), HasSubstr(where)) << json;
    EXPECT_EQ(top_.entries(), 1u);  // the config alone
  }
  const auto unknown = error_of([&] { import_random_model({.shape = "9T", .target = top_.path() / "m"}, nullptr); });
  EXPECT_EQ(unknown.code(), Code::not_found);
  EXPECT_THAT(unknown.fix(), HasSubstr("135M, 1B"));
}

TEST_F(RandomModel, CancellingLeavesNothing) {
  const RandomModelOptions options{.shape = shape(tiny_llama()).string(), .target = top_.path() / "m"};
  int calls = 0;
  const auto stop = [&](const ImportProgress&) { return ++calls < 5; };
  EXPECT_EQ(error_of([&] { import_random_model(options, stop); }).code(), Code::cancelled);
  EXPECT_EQ(top_.entries(), 1u);
}

TEST(LlamaShapes, NamedOnesAreWhatTheirNamesSay) {
  EXPECT_EQ(read_llama_shape("1B").hidden, 2048);
  EXPECT_EQ(read_llama_shape("7B").layers, 32);
  EXPECT_EQ(read_llama_shape("8B").head_size, 128);
}

// Published numbers: Llama 3.1's shortest wavelengths stay, its longest are stretched 8 times.
TEST_F(RandomModel, Llama3ScalingStretchesLongWavelengths) {
  Json json = tiny_llama();
  json["hidden_size"] = 512;
  json["rope_theta"] = 500000.0;
  json["rope_scaling"] = {{"rope_type", "llama3"},
                          {"factor", 8.0},
                          {"low_freq_factor", 1.0},
                          {"high_freq_factor", 4.0},
                          {"original_max_position_embeddings", 8192}};
  const LlamaConfig config = read_llama_shape(shape(json).string());
  ASSERT_EQ(config.rope_divisors.size(), 64u);
  EXPECT_EQ(config.rope_divisors.front(), 1.0f);
  EXPECT_EQ(config.rope_divisors.back(), 8.0f);
}

}  // namespace
}  // namespace genai
