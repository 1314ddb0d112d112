#include "gen/dense_model.h"

#include <gmock/gmock.h>

#include "gen/fixture_model.h"
#include "gen/step_bench.h"
#include "gen/tiny_decoder.h"
#include "support/every_isa.h"

namespace genai {
namespace {

using test::distance;
using test::logits_alone;
using test::random_tokens;

LoadedModel load(const char* folder, nxrt::Isa isa) {
  return load_model(test::fixture_folder(folder), {.threads = 2, .isa = isa, .max_step_rows = 64, .dense = true});
}

using DenseModelOn = nxrt::test::EveryIsa;

TEST_P(DenseModelOn, GivesTheLogitsAndTokensOfOnnxRuntime) {
  for (const auto& [folder, tolerance] : {std::pair("builder_llama_fp32", 1e-5f), {"builder_llama_int4", 1e-4f}}) {
    SCOPED_TRACE(folder);
    const test::Golden golden = test::golden_of(folder);
    LoadedModel model = load(folder, GetParam());
    EXPECT_FALSE(model.paged);
    EXPECT_EQ(model.why_dense, "the dense path was asked for");
    EXPECT_LE(distance(logits_alone(*model.decoder, golden.prompt), golden.logits), tolerance);
    EXPECT_LE(distance(logits_alone(*model.decoder, golden.prompt, {3, 1}), golden.logits), tolerance);
    test::LoadedEngine engine(std::move(model));
    EXPECT_EQ(engine.answer(test::greedy(golden.prompt, static_cast<int>(golden.greedy.size()))), golden.greedy);
  }
}

INSTANTIATE_EVERY_ISA(DenseModelOn);

std::vector<float> step(DecoderModel& model, int id, std::vector<TokenId> tokens, int64_t past, int logits_rows = 1) {
  const StepSequence sequence = {.id = SequenceId(id), .tokens = tokens, .past = past, .logits_rows = logits_rows};
  std::vector<float> logits(static_cast<size_t>(logits_rows * model.vocab_size()));
  model.forward({.sequences = std::span(&sequence, 1)}, logits);
  return logits;
}

TEST(DenseModel, ForksAndRewindsKeepWhatCameBefore) {
  nxrt::Workers workers(1);
  const auto model = test::dense_model(test::gqa_decoder(), workers);
  const auto tokens = random_tokens(1, 20, test::kTinyVocab);
  const auto part = [&](size_t from, size_t to) { return std::vector(tokens.begin() + from, tokens.begin() + to); };
  const auto expected = step(*model, 0, tokens, 0);

  step(*model, 1, part(0, 19), 0);
  model->fork(SequenceId(1), SequenceId(2), 12);
  EXPECT_EQ(step(*model, 1, part(19, 20), 19), step(*model, 1, part(19, 20), 19)) << "writing a row twice";
  EXPECT_LE(distance(step(*model, 2, part(12, 20), 12), expected), 1e-5f);
  EXPECT_LE(distance(step(*model, 1, part(19, 20), 19), expected), 1e-5f) << "the fork's source is untouched";

  step(*model, 1, random_tokens(9, 9, test::kTinyVocab), 20);
  model->rewind(SequenceId(1), 7);
  EXPECT_LE(distance(step(*model, 1, part(7, 20), 7), expected), 1e-5f);
  model->forget(SequenceId(1));
  EXPECT_LE(distance(step(*model, 1, tokens, 0), expected), 0);
  EXPECT_THROW(step(*model, 3, part(0, 3), 5), Error) << "a past that isn't there";
  model->forget(SequenceId(77));
  model->rewind(SequenceId(77), 0);
}

TEST(DenseModel, AFailedStepLeavesTheCacheAsItWas) {
  nxrt::Workers workers(1);
  const auto model = test::dense_model(test::gqa_decoder(), workers);
  const auto tokens = random_tokens(1, 20, test::kTinyVocab);
  step(*model, 0, tokens, 0);
  const auto expected = step(*model, 0, {TokenId(3)}, 20);
  EXPECT_THROW(step(*model, 0, {TokenId(3)}, 22), Error);
  EXPECT_EQ(step(*model, 0, {TokenId(3)}, 20), expected);
}

// What mixes tokens outside attention stays correct here: one sequence per step, whatever the others do.
TEST(DenseModel, RunsWhatCannotBePaged) {
  nxrt::Workers workers(1);
  const std::string text = test::with(test::gqa_decoder(), "x1 = Add(x0, o0)", "h = CumSum(o0, one)  x1 = Add(x0, h)");
  EXPECT_NE(test::why_dense(text), "");
  const auto model = test::dense_model(text, workers);
  const auto a = random_tokens(1, 9, test::kTinyVocab), b = random_tokens(2, 9, test::kTinyVocab);
  const auto alone = step(*model, 0, a, 0, 9);
  step(*model, 1, b, 0);
  EXPECT_EQ(step(*model, 2, a, 0, 9), alone);
}

TEST(DenseModel, ALastRowExportSaysWhyItCannotGiveMore) {
  nxrt::Workers workers(1);
  std::string text = test::with(test::gqa_decoder(), "logits = MatMul(n, w_head)",
                                "minus = Constant<value = i64[1] {-1}>()  last = Gather<axis = 1>(n, minus)  "
                                "logits = MatMul(last, w_head)");
  text = test::with(text, "f32[B, S, 40] logits", "f32[B, 1, 40] logits");
  const auto model = test::dense_model(text, workers);
  const auto tokens = random_tokens(1, 9, test::kTinyVocab);
  const auto whole = test::dense_model(test::gqa_decoder(), workers);
  EXPECT_EQ(step(*model, 0, tokens, 0), step(*whole, 0, tokens, 0));
  try {
    step(*model, 1, tokens, 0, 4);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), testing::HasSubstr("4 rows are needed"));
  }
}

}  // namespace
}  // namespace genai
