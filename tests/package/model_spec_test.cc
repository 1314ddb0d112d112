#include "package/model_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <system_error>

namespace genai {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

constexpr const char* kTokenizer =
    R"({"version": "1.0", "added_tokens": [{"id": 0, "content": "<s>"}, {"id": 7, "content": "<end>", "special": true}], "model": {}})";

// A model folder made of the files a test names; goes away with the test.
class ModelFolder : public testing::Test {
 protected:
  ModelFolder() {
    std::string pattern = (fs::temp_directory_path() / "nxrt-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    write("tokenizer.json", kTokenizer);
    write("model.onnx", "");
  }
  ~ModelFolder() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  ModelSpec open() { return open_model_folder(folder_); }
  Error error() {
    try {
      open();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return Error(Code::internal, "");
  }
  fs::path folder_;
};

TokenId id(int value) { return TokenId(value); }

TEST(BuilderFolder, SaysWhatGenaiConfigSays) {
  const fs::path folder = NXRT_SOURCE_DIR "/tests/fixtures/builder_llama_int4";
  const ModelSpec spec = open_model_folder(folder);
  EXPECT_EQ(spec.source, "genai_config.json");
  EXPECT_EQ(fs::canonical(spec.decoder), fs::canonical(folder / "model.onnx"));
  EXPECT_EQ(spec.context_length, 128);
  EXPECT_EQ(spec.vocab_size, 320);
  EXPECT_EQ(spec.model_type, "llama");
  EXPECT_EQ(spec.roles.input_ids, "input_ids");
  EXPECT_EQ(spec.roles.past_value, "past_key_values.%d.value");
  EXPECT_EQ(spec.roles.present_key, "present.%d.key");
  EXPECT_EQ(spec.generation.do_sample, false);
  EXPECT_EQ(spec.generation.top_k, 50);
  EXPECT_THAT(spec.generation.eos, ElementsAre(id(1)));
  EXPECT_EQ(spec.bos, id(0));
  EXPECT_EQ(spec.bos_token, "<|begin|>");
  EXPECT_EQ(spec.eos_token, "<|end|>");
  EXPECT_EQ(spec.chat_templates.count("default"), 1u);
}

TEST_F(ModelFolder, PathOfTheGraphWorksAsWell) {
  write("a.onnx", "");
  EXPECT_EQ(open_model_folder(folder_ / "a.onnx").decoder, folder_ / "a.onnx");
  EXPECT_EQ(open_model_folder(folder_ / "").decoder, folder_ / "model.onnx");
}

TEST_F(ModelFolder, EndIdsAreTheUnionOfWhatTheFilesSay) {
  write("genai_config.json", R"({"model": {"eos_token_id": [3, 4]}})");
  write("generation_config.json", R"({"eos_token_id": 5})");
  write("tokenizer_config.json", R"({"eos_token": {"content": "<end>"}, "bos_token": "<s>"})");
  write("config.json", R"({"eos_token_id": 9})");
  const ModelSpec spec = open();
  EXPECT_THAT(spec.generation.eos, UnorderedElementsAre(id(3), id(4), id(5), id(7)));
  EXPECT_EQ(spec.bos, id(0));
  EXPECT_EQ(spec.eos_token, "<end>");
}

TEST_F(ModelFolder, ConfigJsonNamesTheEndOnlyWhenNothingElseDoes) {
  write("config.json",
        R"({"model_type": "llama", "eos_token_id": 9, "max_position_embeddings": 77, "vocab_size": 12})");
  const ModelSpec spec = open();
  EXPECT_THAT(spec.generation.eos, ElementsAre(id(9)));
  EXPECT_EQ(spec.source, "config.json");
  EXPECT_EQ(spec.context_length, 77);
  EXPECT_EQ(spec.vocab_size, 12);
}

TEST_F(ModelFolder, GenerationDefaultsComeFromTheFirstFileThatHasThem) {
  write("genai_config.json", R"({"model": {}, "search": {"temperature": 0.5, "max_length": 40}})");
  write("generation_config.json",
        R"({"temperature": 0.9, "top_p": 0.25, "top_k": 3, "min_p": 0.125, "repetition_penalty": 1.5,
            "do_sample": true, "suppress_tokens": [2, 2, -1]})");
  const GenerationDefaults defaults = open().generation;
  EXPECT_EQ(defaults.temperature, 0.5f);
  EXPECT_EQ(defaults.top_p, 0.25f);
  EXPECT_EQ(defaults.top_k, 3);
  EXPECT_EQ(defaults.min_p, 0.125f);
  EXPECT_EQ(defaults.repetition_penalty, 1.5f);
  EXPECT_EQ(defaults.max_length, 40);
  EXPECT_EQ(defaults.do_sample, true);
  EXPECT_THAT(defaults.suppress_tokens, ElementsAre(id(2)));
}

TEST_F(ModelFolder, ChatTemplatesFromEveryPlace) {
  write("tokenizer_config.json",
        R"({"chat_template": [{"name": "default", "template": "old"}, {"name": "tool_use", "template": "tools"}]})");
  EXPECT_THAT(open().chat_templates, ElementsAre(Pair("default", "old"), Pair("tool_use", "tools")));
  write("chat_template.json", R"({"chat_template": "json"})");
  EXPECT_EQ(open().chat_templates.at("default"), "json");
  write("chat_template.jinja", "file");
  write("additional_chat_templates/rag.jinja", "rag");
  EXPECT_THAT(open().chat_templates,
              ElementsAre(Pair("default", "file"), Pair("rag", "rag"), Pair("tool_use", "tools")));
}

TEST_F(ModelFolder, InferenceMetadataComesFirst) {
  write("genai_config.json", R"({"model": {"context_length": 5}})");
  write("inference_metadata.yaml", R"(
schema_version: v1
required_capabilities: [kv_cache, prefix_cache]
model:
  max_sequence_length: 64
  vocab_size: 300
  io:
    token_input: tokens
    logits_output: "scores"
    kv_inputs: [past_0_k, past_0_v, past_1_k, past_1_v]
    kv_outputs: [present_0_k, present_0_v, present_1_k, present_1_v]
generation:
  defaults: {temperature: 0.5, top_k: 8, do_sample: true}
)");
  const ModelSpec spec = open();
  EXPECT_EQ(spec.source, "inference_metadata.yaml");
  EXPECT_EQ(spec.context_length, 64);
  EXPECT_EQ(spec.roles.input_ids, "tokens");
  EXPECT_EQ(spec.roles.logits, "scores");
  EXPECT_EQ(spec.roles.past_key, "past_%d_k");
  EXPECT_EQ(spec.roles.present_value, "present_%d_v");
  EXPECT_EQ(spec.generation.top_k, 8);
  EXPECT_EQ(spec.generation.do_sample, true);
}

TEST_F(ModelFolder, RequiredCapabilitiesAreRefusedWhenUnknown) {
  write("inference_metadata.json", R"({"required_capabilities": ["kv_cache", "telepathy"]})");
  EXPECT_EQ(error().code(), Code::unsupported);
  EXPECT_EQ(error().message(), "the model requires the capability 'telepathy', which this program has not");
  EXPECT_EQ(error().at(), "inference_metadata.json > required_capabilities[1]");
  write("inference_metadata.json", R"({"pipeline": {"workflow": {}}})");
  EXPECT_EQ(error().code(), Code::unsupported);
}

TEST_F(ModelFolder, WrongTypesNameFileKeyValueAndExpectation) {
  write("genai_config.json", R"({"model": {"decoder": {"inputs": {"input_ids": 3}}}})");
  EXPECT_EQ(error().message(), "the value is 3, expected a string");
  EXPECT_EQ(error().at(), "genai_config.json > model.decoder.inputs.input_ids");
  const std::pair<const char*, const char*> cases[] = {
      {R"({"model": {"context_length": "x"}})", "the value is \"x\", expected an integer from 1 to 2147483647"},
      {R"({"model": {"context_length": 0}})", "the value is 0, expected an integer from 1 to 2147483647"},
      {R"({"model": {"context_length": 1e3}})", "the value is 1000.0, expected an integer from 1 to 2147483647"},
      {R"({"model": {"eos_token_id": {}}})", "the value is {}, expected an integer or a list of integers"},
      {R"({"model": {}, "search": {"do_sample": 1}})", "the value is 1, expected true or false"},
      {R"({"model": {}, "search": {"top_p": "0.5"}})", "the value is \"0.5\", expected a number"},
      {R"({"model": 1})", "the value is 1, expected an object"},
      {R"([])", "the value is [], expected an object"},
  };
  for (const auto& [text, message] : cases) {
    write("genai_config.json", text);
    EXPECT_EQ(error().message(), message);
    EXPECT_EQ(error().code(), Code::corrupt);
  }
}

TEST_F(ModelFolder, UnreadableFilesNameTheFile) {
  write("genai_config.json", "{");
  EXPECT_EQ(error().at(), "genai_config.json");
  fs::remove(folder_ / "genai_config.json");
  write("inference_metadata.yaml", "a: [1\nb: 2");
  EXPECT_THAT(error().at(), StartsWith("inference_metadata.yaml > line "));
  fs::remove(folder_ / "inference_metadata.yaml");
  write("tokenizer.json", R"({"added_tokens": [{"id": "x"}]})");
  EXPECT_EQ(error().at(), "tokenizer.json > added_tokens");
}

TEST_F(ModelFolder, OtherShapesThanADecoderAreRefused) {
  write("genai_config.json", R"({"model": {"vision": {"filename": "v.onnx"}}})");
  EXPECT_EQ(error().code(), Code::unsupported);
  EXPECT_EQ(error().at(), "genai_config.json > model.vision");
  write("genai_config.json", R"({"model": {"decoder": {"pipeline": []}}})");
  EXPECT_EQ(error().code(), Code::unsupported);
}

TEST_F(ModelFolder, TheGraphStaysInsideTheFolder) {
  write("genai_config.json", R"({"model": {"decoder": {"filename": "../x.onnx"}}})");
  EXPECT_EQ(error().code(), Code::invalid_argument);
  EXPECT_EQ(error().at(), "genai_config.json > model.decoder.filename");
  write("genai_config.json", R"({"model": {"decoder": {"filename": "absent.onnx"}}})");
  EXPECT_EQ(error().code(), Code::not_found);
}

TEST_F(ModelFolder, MissingFilesAreNamed) {
  fs::remove(folder_ / "model.onnx");
  EXPECT_EQ(error().message(), "the folder has no .onnx file");
  write("a.onnx", "");
  EXPECT_EQ(open().decoder, folder_ / "a.onnx");
  write("b.onnx", "");
  EXPECT_THAT(error().message(), testing::HasSubstr("a.onnx, b.onnx"));
  fs::remove(folder_ / "tokenizer.json");
  EXPECT_EQ(error().message(), "the folder has no tokenizer.json");
  fs::remove_all(folder_);
  EXPECT_EQ(error().code(), Code::not_found);
}

TEST_F(ModelFolder, AliasesDoNotBlowUpMemory) {
  std::string yaml = "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string below = "*l" + std::to_string(i - 1);
    yaml += "l" + std::to_string(i) + ": &l" + std::to_string(i) + " [" + below;
    for (int j = 0; j < 9; ++j) yaml += ", " + below;
    yaml += "]\n";
  }
  write("inference_metadata.yaml", yaml);
  EXPECT_EQ(error().code(), Code::out_of_capacity);
}

}  // namespace
}  // namespace genai
