#include <genai/genai.h>
#include <gmock/gmock.h>

#include <genai/genai.hpp>
#include <thread>

#include "gen/fixture_model.h"

extern "C" int genai_c_program(const char* folder, char* text, size_t capacity);

namespace {

using ::testing::HasSubstr;

std::string folder() { return genai::test::fixture_folder("builder_llama_fp32").string(); }

TEST(GenaiCApi, AProgramInCGetsAnAnswer) {
  char text[512] = {};
  EXPECT_EQ(genai_c_program(folder().c_str(), text, sizeof text), 0) << genai_error_text();
  EXPECT_NE(std::string(text), "");
}

TEST(GenaiCApi, ManyThreadsGetTheTokensOfOnnxRuntime) {
  genai_options options = {};
  options.threads = 2;
  genai::Model model(folder(), options);
  EXPECT_EQ(model.context_length(), 128);
  EXPECT_EQ(model.vocab_size(), 320);
  const genai::test::Golden golden = genai::test::golden_of("builder_llama_fp32");
  std::vector<int32_t> prompt, expected;
  for (const genai::TokenId id : golden.prompt) prompt.push_back(id.value);
  for (const genai::TokenId id : golden.greedy) expected.push_back(id.value);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      genai::Completion answer =
          model.submit(prompt, {.max_tokens = static_cast<int>(expected.size()), .ignore_eos = true});
      std::vector<int32_t> tokens;
      std::string text;
      while (const genai_event* event = answer.next()) {
        if (event->token >= 0) tokens.push_back(event->token);
        text.append(event->text, event->bytes);
      }
      EXPECT_EQ(tokens, expected);
      EXPECT_EQ(text, model.decode(expected));
    });
  }
}

TEST(GenaiCApi, OptionsFromBeforeKvTypeAreStillRight) {
  genai_options options = {.size = offsetof(genai_options, kv_type), .context_length = 100, .kv_type = "not theirs"};
  genai_model* model = genai_model_open(folder().c_str(), &options);
  ASSERT_NE(model, nullptr) << genai_error_text();
  EXPECT_EQ(genai_context_length(model), 100);
  genai_model_close(model);
}

TEST(GenaiCApi, AnswersThatEndEarly) {
  genai::Model model(folder());
  genai::Completion cancelled = model.submit(model.encode("the"), {.ignore_eos = true});
  cancelled.cancel();
  genai_event_kind last = GENAI_TOKEN;
  while (const genai_event* event = cancelled.next()) last = event->kind;
  EXPECT_EQ(last, GENAI_CANCELLED);
  EXPECT_EQ(cancelled.next(), nullptr) << "the end stays the end";

  genai::Completion orphan = [] {
    genai::Model other(folder());
    return other.submit(other.encode("the"), {.ignore_eos = true});
  }();
  while (const genai_event* event = orphan.next()) last = event->kind;
  EXPECT_TRUE(last == GENAI_CANCELLED || last == GENAI_LENGTH);
}

TEST(GenaiCApi, FailuresAreCodesAndTexts) {
  EXPECT_EQ(genai_model_open("no/such/folder", nullptr), nullptr);
  EXPECT_THAT(genai_error_text(), HasSubstr("no/such/folder"));
  EXPECT_EQ(genai_model_open(nullptr, nullptr), nullptr);
  EXPECT_EQ(genai_error_code(), NXRT_INVALID_ARGUMENT);
  genai_options options = {};
  EXPECT_EQ(genai_model_open(folder().c_str(), &options), nullptr);
  EXPECT_THAT(genai_error_text(), HasSubstr("options.size is 0"));

  options = {.size = sizeof options, .kv_type = "f8"};
  EXPECT_EQ(genai_model_open(folder().c_str(), &options), nullptr);
  EXPECT_THAT(genai_error_text(), HasSubstr("'f8', expected auto, f32 or f16"));

  genai::Model model(folder());
  EXPECT_THROW(model.submit({}), genai::Failure);
  EXPECT_THROW(model.submit({320}), genai::Failure);
  EXPECT_THAT(genai_error_text(), HasSubstr("token 0 is 320, expected 0 to 319"));
  EXPECT_THROW(model.encode("\xff"), genai::Failure);
  EXPECT_THROW(model.decode({-1}), genai::Failure);
  EXPECT_EQ(model.decode(model.encode("the fox")), "the fox");
  EXPECT_EQ(genai_submit(model.get(), nullptr), nullptr);
  EXPECT_EQ(genai_next(nullptr, nullptr), NXRT_INVALID_ARGUMENT);

  size_t needed = 0;
  int32_t one = 0;
  EXPECT_EQ(genai_encode(model.get(), "12345", 5, 0, &one, 1, &needed), NXRT_OUT_OF_CAPACITY);
  EXPECT_EQ(needed, 5u) << "a digit is a token";
  genai_model_close(nullptr);
  genai_answer_free(nullptr);
  genai_cancel(nullptr);
}

}  // namespace
