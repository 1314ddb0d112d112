#include "gen/load_model.h"

#include <gmock/gmock.h>

#include "gen/fixture_model.h"
#include "gen/tiny_decoder.h"
#include "onnx/reader.h"
#include "onnx/writer.h"

namespace genai {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A copy of a fixture that a test may spoil.
class LoadModel : public testing::Test {
 protected:
  LoadModel() : folder_(fs::path(testing::TempDir()) / ("nxrt_load_" + std::string(name()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const auto& entry : fs::directory_iterator(test::fixture_folder("builder_llama_fp32"))) {
      fs::copy(entry.path(), folder_ / entry.path().filename());
    }
  }
  ~LoadModel() override { fs::remove_all(folder_); }

  static const char* name() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }
  std::string complaint(const LoadOptions& options = {.threads = 1}) {
    try {
      load_model(folder_, options);
    } catch (const Error& error) {
      return error.text();
    }
    return "";
  }
  fs::path folder_;
};

TEST_F(LoadModel, TellsWhatItLoaded) {
  const LoadedModel model = load_model(folder_, {.threads = 1, .max_step_rows = 32});
  EXPECT_TRUE(model.paged);
  EXPECT_EQ(model.why_dense, "");
  EXPECT_EQ(model.decoder->vocab_size(), 320);
  EXPECT_EQ(model.decoder->context_length(), 128);
  EXPECT_EQ(model.decoder->max_step_rows(), 32);
  EXPECT_EQ(model.workers->width(), 1);
  EXPECT_GT(model.session->weight_bytes(), 0);
  EXPECT_EQ(load_model(folder_, {.threads = 1, .context_length = 100}).decoder->context_length(), 100);
}

TEST_F(LoadModel, TheKvCacheIsF16WhereWeightsAreNarrow) {
  EXPECT_EQ(load_model(folder_, {.threads = 1}).kv_dtype, nxrt::DType::f32);
  EXPECT_EQ(load_model(folder_, {.threads = 1, .kv_dtype = nxrt::DType::f16}).kv_dtype, nxrt::DType::f16);
  const fs::path int4 = test::fixture_folder("builder_llama_int4");
  const LoadedModel narrow = load_model(int4, {.threads = 1});
  EXPECT_EQ(narrow.kv_dtype, nxrt::DType::f16);
  EXPECT_EQ(narrow.decoder->kv_layout().block_bytes, kBlockTokens * 2 * 2 * 2 * 16 * 2);
  EXPECT_EQ(load_model(int4, {.threads = 1, .kv_dtype = nxrt::DType::f32}).kv_dtype, nxrt::DType::f32);
}

TEST_F(LoadModel, TheDensePathKeepsTheCachesOfTheGraph) {
  EXPECT_EQ(load_model(folder_, {.threads = 1, .kv_dtype = nxrt::DType::f32, .dense = true}).kv_dtype,
            nxrt::DType::f32);
  EXPECT_THAT(complaint({.threads = 1, .kv_dtype = nxrt::DType::f16, .dense = true}),
              AllOf(HasSubstr("a KV cache of f16 was asked for"), HasSubstr("has the f32 of the model's past inputs"),
                    HasSubstr("the dense path was asked for")));
}

TEST_F(LoadModel, AContextBeyondTheModelsIsRefused) {
  EXPECT_THAT(complaint({.threads = 1, .context_length = 129}),
              AllOf(HasSubstr("129 tokens was asked for, the model has 128"), HasSubstr("ask for at most 128")));
}

TEST_F(LoadModel, ATokenizerLargerThanTheVocabularyIsRefused) {
  std::ifstream in(folder_ / "tokenizer.json");
  nlohmann::json tokenizer = nlohmann::json::parse(in);
  tokenizer["added_tokens"].push_back({{"id", 320},
                                       {"content", "<|more|>"},
                                       {"single_word", false},
                                       {"lstrip", false},
                                       {"rstrip", false},
                                       {"normalized", false},
                                       {"special", true}});
  std::ofstream(folder_ / "tokenizer.json") << tokenizer;
  EXPECT_THAT(complaint(), AllOf(HasSubstr("the tokenizer has 321 tokens, the decoder's logits have 320"),
                                 HasSubstr("the tokenizer.json that belongs to this decoder")));
}

TEST_F(LoadModel, AllUnknownOperatorsAreListed) {
  const auto graph = test::decoder_graph(test::gqa_decoder());
  for (const nxrt::NodeId id : graph->order()) {
    nxrt::Node& node = graph->node(id);
    if (node.name == "o0") node.op = "Frobnicate";
    if (node.name == "n") node.op = "Quux";
  }
  nxrt::write_model(*graph, folder_ / "model.onnx");
  EXPECT_THAT(complaint(), AllOf(HasSubstr("2 operators"), HasSubstr("Frobnicate"), HasSubstr("Quux")));
}

TEST_F(LoadModel, ADecoderWithoutCachesIsRefused) {
  const auto graph = test::decoder_graph(test::gqa_decoder());
  for (const nxrt::ValueId id : graph->inputs()) {
    if (graph->value(id).name.starts_with("past")) graph->rename(id, "state" + graph->value(id).name.substr(15));
  }
  nxrt::write_model(*graph, folder_ / "model.onnx");
  EXPECT_THAT(complaint(), AllOf(HasSubstr("no past/present pairs were found"), HasSubstr("genai_config.json")));
}

TEST_F(LoadModel, WhatCannotBePagedRunsDenseAndSaysWhy) {
  const auto graph = nxrt::read_model(folder_ / "model.onnx");
  for (const nxrt::NodeId id : graph->order()) {
    nxrt::Node& node = graph->node(id);
    if (node.op == "GroupQueryAttention") node.attributes["smooth_softmax"] = int64_t{1};
  }
  nxrt::write_model(*graph, folder_ / "model.onnx");
  const LoadedModel model = load_model(folder_, {.threads = 1});
  EXPECT_FALSE(model.paged);
  EXPECT_FALSE(model.decoder->paged());
  EXPECT_THAT(model.why_dense, HasSubstr("(GroupQueryAttention) uses smooth_softmax"));
}

TEST_F(LoadModel, MissingFilesAreNamed) {
  fs::rename(folder_ / "tokenizer.json", folder_ / "kept");
  EXPECT_THAT(complaint(), HasSubstr("the folder has no tokenizer.json"));
  fs::rename(folder_ / "kept", folder_ / "tokenizer.json");
  fs::remove(folder_ / "model.onnx");
  EXPECT_THAT(complaint(), HasSubstr("model.onnx"));
}

}  // namespace
}  // namespace genai
