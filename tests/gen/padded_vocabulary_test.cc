// Models whose logits have more columns than the tokenizer has ids: the padding never comes out and never goes in.
#include <gmock/gmock.h>

#include "gen/engine.h"
#include "gen/engine_bench.h"

namespace genai {
namespace {

constexpr int kRows = 61, kIds = 20;  // most of the fake model's favourites are padding

class PaddedVocabulary : public testing::Test {
 protected:
  PaddedVocabulary() {
    auto model = std::make_unique<FakeModel>(FakeModel::Options{.vocab_size = kRows});
    const int64_t bytes = 100 * model->kv_layout().block_bytes;
    engine_ = std::make_unique<Engine>(std::move(model), std::make_shared<FakeTokenizer>(kIds),
                                       EngineOptions{.kv_bytes = bytes, .manual = true});
  }
  std::vector<Event> run(Request request) {
    Ticket ticket = engine_->submit(std::move(request));
    std::vector<Event> events;
    while (!ticket.done()) {
      while (auto event = ticket.try_next()) events.push_back(std::move(*event));
      engine_->step();
    }
    return events;
  }
  std::string refusal(const Request& request) {
    try {
      engine_->submit(request);
    } catch (const Error& error) {
      return error.text();
    }
    return "accepted";
  }
  std::unique_ptr<Engine> engine_;
  const std::vector<TokenId> prompt_ = {TokenId(1), TokenId(19), TokenId(0), TokenId(7)};
};

TEST_F(PaddedVocabulary, TheBestOfTheTokenizersIdsIsChosen) {
  const auto events = run({.prompt = prompt_, .max_tokens = 30, .sampling = {.temperature = 0}});
  std::vector<TokenId> history = prompt_;
  for (const Event& event : events) {
    std::vector<float> logits(kRows);
    FakeModel::logits_after(history, logits);
    const auto best = std::max_element(logits.begin(), logits.begin() + kIds) - logits.begin();
    ASSERT_EQ(event.token.value, best);
    history.push_back(event.token);
  }
  EXPECT_EQ(history.size(), 34u);
}

TEST_F(PaddedVocabulary, SampledOnesToo) {
  Request request = {.prompt = prompt_, .max_tokens = 200, .sampling = {.temperature = 5, .seed = 1}};
  request.logprobs = kIds;
  request.prompt_logprobs = kIds;
  const auto events = run(request);
  ASSERT_EQ(events.size(), 200u);
  for (const Event& event : events) {
    EXPECT_LT(event.token.value, kIds);
    EXPECT_EQ(event.logprob->top.size(), size_t{kIds});
  }
  ASSERT_EQ(events[0].prompt_logprobs.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    std::vector<float> logits(kRows);
    FakeModel::logits_after(std::span(prompt_).first(i + 1), logits);
    const auto expected = logprob_of(std::span<const float>(logits).first(kIds), prompt_[i + 1], 0);
    EXPECT_EQ(events[0].prompt_logprobs[i].logprob, expected.logprob) << "each row is cut, not only the last";
  }
}

TEST_F(PaddedVocabulary, PaddingIsRefusedInRequests) {
  EXPECT_EQ(engine_->vocab_size(), kIds);
  EXPECT_THAT(refusal({.prompt = {TokenId(20)}, .max_tokens = 1}),
              testing::HasSubstr("token 0 is 20, expected 0 to 19"));
  EXPECT_THAT(refusal({.prompt = {TokenId(-1)}, .max_tokens = 1}), testing::HasSubstr("token 0 is -1"));
  EXPECT_THAT(refusal({.prompt = prompt_, .max_tokens = 1, .sampling = {.logit_bias = {{TokenId(25), 1.0f}}}}),
              testing::HasSubstr("logit_bias"));
}

}  // namespace
}  // namespace genai
