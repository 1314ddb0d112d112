// Speculation on the fake model: the tokens, texts and log probabilities are those without it, whatever the schedule.
#include "gen/speculation.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "gen/engine_bench.h"
#include "gen/fixture_model.h"

namespace genai {
namespace {

using Reason = Finish::Reason;
constexpr float kRepeats = 16;  // most tokens follow from the one before

EngineOptions options(bool speculates, SchedulerOptions scheduler = {}) {
  return {.scheduler = scheduler, .speculation = {.prompt_lookup = speculates}, .output_buffer = 1000};
}

EngineBench repeating(bool speculates, SchedulerOptions scheduler = {}, int64_t blocks = 400, int context = 4096) {
  return EngineBench(options(speculates, scheduler),
                     {.vocab_size = EngineBench::kVocab, .context_length = context, .repeats = kRepeats}, blocks);
}

TEST(Speculation, TakesFewerStepsForTheSameTokens) {
  const auto prompt = EngineBench::prompt(1, 20);
  const auto expected = FakeModel::greedy_answer(prompt, 300, EngineBench::kVocab, kRepeats);
  EngineBench bench = repeating(true);
  const auto events = bench.run(EngineBench::greedy(prompt, 300));
  EXPECT_EQ(tokens_of(events), expected);
  EXPECT_LT(bench.model->steps, 200);
  const Usage& usage = events.back().usage;
  EXPECT_EQ(usage.completion_tokens, 300);
  EXPECT_GT(usage.accepted_tokens, 100);
  EXPECT_GE(usage.proposed_tokens, usage.accepted_tokens);
  EXPECT_EQ(bench.model->steps, 300 - usage.accepted_tokens);
  EXPECT_EQ(bench.engine->stats().accepted_tokens, usage.accepted_tokens);
  EXPECT_EQ(bench.engine->stats().proposed_tokens, usage.proposed_tokens);
  EXPECT_EQ(bench.held(), 0);
}

TEST(Speculation, ARequestCanTurnItOff) {
  EngineBench bench = repeating(true);
  Request request = EngineBench::greedy(EngineBench::prompt(1, 20), 100);
  request.speculate = false;
  const auto events = bench.run(request);
  EXPECT_EQ(bench.model->steps, 100);
  EXPECT_EQ(events.back().usage.proposed_tokens, 0);
}

TEST(Speculation, NeverPassesAnyLimit) {
  for (const int most : {1, 2, 3, 17, 60}) {
    EngineBench bench = repeating(true);
    bench.model->before_forward = [&](const Step& step) {
      for (const StepSequence& s : step.sequences) {
        EXPECT_LT(s.past + static_cast<int64_t>(s.tokens.size()), 20 + most) << "a row whose logits can't matter";
      }
    };
    const auto events = bench.run(EngineBench::greedy(EngineBench::prompt(1, 20), most));
    EXPECT_EQ(events.size(), static_cast<size_t>(most));
    EXPECT_EQ(reason_of(events), Reason::length);
  }
  EngineBench context = repeating(true, {}, 400, 150);
  const Request open{.prompt = EngineBench::prompt(1, 20), .sampling = {.temperature = 0}};
  EXPECT_EQ(tokens_of(context.run(open)).size(), 130u);
  EngineBench pool = repeating(true, {}, 5);
  EXPECT_EQ(tokens_of(pool.run(open)).size(), 60u);
}

TEST(Speculation, EndsAtAnEndOfTextTokenInTheMiddleOfAProposal) {
  EngineBench plain = repeating(false);
  const auto prompt = EngineBench::prompt(1, 20);
  const auto tokens = tokens_of(plain.run(EngineBench::greedy(prompt, 300)));
  for (const size_t at : {100u, 101u, 102u, 103u, 104u, 105u, 106u}) {
    EngineBench bench = repeating(true);
    Request request = EngineBench::greedy(prompt, 300);
    int seen = 0;
    for (size_t i = 0; i < at; ++i) seen += tokens[i] == tokens[at] ? 1 : 0;
    if (seen > 0) request.sampling.logit_bias = {};  // it ends earlier: compare with the plain engine all the same
    request.eos = {tokens[at]};
    EngineBench reference = repeating(false);
    EXPECT_EQ(tokens_of(bench.run(request)), tokens_of(reference.run(request)));
    EXPECT_EQ(bench.held(), 0);
  }
}

TEST(Speculation, StopsWhenNothingRepeatsAndTriesAreNotFree) {
  EngineBench bench(options(true));  // its text never repeats
  bench.model->before_forward = [&](const Step& step) {
    size_t rows = 0;
    for (const StepSequence& s : step.sequences) rows += s.tokens.size();
    bench.clock += 1.0 + 0.3 * static_cast<double>(rows);
  };
  const auto events = bench.run(EngineBench::greedy(EngineBench::prompt(1, 20), 1000));
  EXPECT_EQ(tokens_of(events), EngineBench::expected(EngineBench::prompt(1, 20), 1000));
  EXPECT_LE(events.back().usage.proposed_tokens, 20);
}

TEST(Speculation, IsOffWhereEachRowCostsAsMuchAsAStep) {
  EngineBench bench = repeating(true);
  bench.model->before_forward = [&](const Step& step) {
    for (const StepSequence& s : step.sequences) bench.clock += static_cast<double>(s.tokens.size());
  };
  const auto events = bench.run(EngineBench::greedy(EngineBench::prompt(1, 20), 500));
  EXPECT_EQ(tokens_of(events).size(), 500u);
  EXPECT_LE(events.back().usage.proposed_tokens, 25);
}

TEST(Speculation, AFailingStepIsRunAgainWithoutGuesses) {
  EngineBench bench = repeating(true);
  bench.model->before_forward = [&](const Step& step) {
    for (const StepSequence& s : step.sequences) {
      if (s.past >= 20 && s.tokens.size() > 1) throw std::runtime_error("only one row");
    }
  };
  const auto prompt = EngineBench::prompt(1, 20);
  EXPECT_EQ(tokens_of(bench.run(EngineBench::greedy(prompt, 200))),
            FakeModel::greedy_answer(prompt, 200, EngineBench::kVocab, kRepeats));
}

TEST(Speculation, IsRefusedForADenseModel) {
  EXPECT_THROW(EngineBench(options(true), {.vocab_size = EngineBench::kVocab, .paged = false}), Error);
}

TEST(Speculation, OnlyCommittedTokensAreShared) {
  EngineBench bench = repeating(true);
  const auto prompt = EngineBench::prompt(1, 20);
  const ContextId context = bench.engine->create_context();
  Request request = EngineBench::greedy(prompt, 101);
  request.context = context;
  auto said = tokens_of(bench.run(request));
  std::vector<TokenId> all = prompt;
  all.insert(all.end(), said.begin(), said.end());
  EXPECT_EQ(bench.engine->tokens(context), all);
  // Every cut, on a block's edge and beside it, goes on as if it were a new prompt.
  for (const int64_t cut : {112, 97, 96, 95, 64, 21}) {
    bench.engine->rewind(context, cut);
    Request next = EngineBench::greedy({TokenId(3)}, 40);
    next.context = bench.engine->fork(context, cut);
    std::vector<TokenId> history(all.begin(), all.begin() + cut);
    history.emplace_back(3);
    EXPECT_EQ(tokens_of(bench.run(next)), FakeModel::greedy_answer(history, 40, EngineBench::kVocab, kRepeats));
  }
}

// Odd tokens after even ones, even ones after odd ones.
class Alternating : public TokenConstraint {
 public:
  std::span<const uint64_t> allowed() override {
    mask_ = even_ ? 0x5555555555555555u : 0xaaaaaaaaaaaaaaaau;
    return {&mask_, 1};
  }
  void accept(TokenId token) override { even_ = token.value % 2 != 0; }
  std::unique_ptr<TokenConstraint> fresh() const override { return std::make_unique<Alternating>(); }

 private:
  bool even_ = true;
  uint64_t mask_ = 0;
};

Request any_request() {
  const auto any = [](int most) { return *rc::gen::resize(100, rc::gen::inRange(0, most)); };
  Request request = EngineBench::greedy(EngineBench::prompt(any(4), 1 + any(60)), 1 + any(90));
  SamplingOptions& sampling = request.sampling;
  sampling.seed = static_cast<uint64_t>(any(1000));
  sampling.temperature = *rc::gen::element(0.0f, 0.0f, 0.2f, 1.0f);
  sampling.top_k = *rc::gen::element(0, 0, 4);
  sampling.top_p = *rc::gen::element(1.0f, 0.9f);
  sampling.repetition_penalty = *rc::gen::element(1.0f, 1.0f, 1.1f);
  sampling.presence_penalty = *rc::gen::element(0.0f, 0.0f, 0.2f);
  sampling.repetition_window = *rc::gen::element(0, 7);
  sampling.dry.multiplier = *rc::gen::element(0.0f, 0.0f, 0.0f, 0.3f);
  sampling.mirostat.version = *rc::gen::element(0, 0, 0, 1, 2);
  sampling.xtc.probability = *rc::gen::element(0.0f, 0.0f, 0.5f);
  if (any(4) == 0) sampling.logit_bias = {{TokenId(any(55)), 2.0f}};
  if (any(3) == 0) request.eos = {TokenId(any(55))};
  if (any(3) == 0) request.stop = {std::string(1, static_cast<char>('A' + any(50)))};
  if (any(3) == 0) request.constraint = std::make_shared<Alternating>();
  if (any(3) == 0) request.logprobs = 2;
  request.n = *rc::gen::element(1, 1, 3);
  request.priority = any(2);
  return request;
}

struct Script {
  std::vector<Request> requests;
  std::vector<int> waits;    // steps before each of them
  std::vector<int> cancels;  // steps after which its reader leaves; 0: stays
};

struct Said {
  std::vector<TokenId> tokens;
  std::string text;
  std::vector<float> logprobs;
  std::vector<Reason> endings;
  bool operator==(const Said&) const = default;
};

std::vector<Said> play(EngineBench& bench, const Script& script, double row_ms) {
  bench.model->before_forward = [&bench, row_ms](const Step& step) {
    size_t rows = 0;
    for (const StepSequence& s : step.sequences) rows += s.tokens.size();
    bench.clock += 1 + row_ms * static_cast<double>(rows);
  };
  std::vector<std::optional<Ticket>> tickets;
  std::vector<int> left = script.cancels;
  const auto step = [&] {
    bench.engine->step();
    for (size_t i = 0; i < tickets.size(); ++i) {
      if (left[i] > 0 && --left[i] == 0) tickets[i].reset();
    }
  };
  for (size_t i = 0; i < script.requests.size(); ++i) {
    tickets.emplace_back(bench.engine->submit(script.requests[i]));
    for (int s = 0; s < script.waits[i]; ++s) step();
  }
  std::vector<Said> answers;
  for (size_t i = 0; i < tickets.size(); ++i) {
    for (int n = 0; tickets[i] && left[i] > 0 && n < 1000; ++n) step();
    if (!tickets[i]) continue;
    std::vector<Said> said(static_cast<size_t>(script.requests[i].n));
    for (const Event& event : bench.finish(*tickets[i])) {
      Said& one = said[static_cast<size_t>(event.index)];
      if (event.token.valid()) one.tokens.push_back(event.token);
      one.text += event.text;
      if (event.logprob) one.logprobs.push_back(event.logprob->top[1].logprob);
      if (event.finish) one.endings.push_back(event.finish->reason);
    }
    answers.insert(answers.end(), said.begin(), said.end());
  }
  return answers;
}

TEST(Speculation, ChangesNoAnswerUnderAnySchedule) {
  int64_t accepted = 0;
  EXPECT_TRUE(rc::check([&] {
    Script script;
    const int count = *rc::gen::resize(100, rc::gen::inRange(1, 9));
    for (int i = 0; i < count; ++i) {
      script.requests.push_back(any_request());
      script.waits.push_back(*rc::gen::resize(100, rc::gen::inRange(0, 12)));
      script.cancels.push_back(*rc::gen::element(0, 0, 0, 5, 30));
    }
    const SchedulerOptions scheduler = {.max_sequences = *rc::gen::resize(100, rc::gen::inRange(3, 7)),
                                        .max_step_rows = *rc::gen::resize(100, rc::gen::inRange(8, 64)),
                                        .reserve_tokens = *rc::gen::element(0, 8, 1000)};
    const int blocks = *rc::gen::resize(100, rc::gen::inRange(12, 40));
    const double row_ms = *rc::gen::element(0.0, 0.02, 0.2);
    EngineOptions speculating = options(true, scheduler);
    if (*rc::gen::arbitrary<bool>()) {
      speculating.speculation.draft = std::make_shared<FakeModel>(
          FakeModel::Options{.vocab_size = EngineBench::kVocab, .repeats = *rc::gen::element(10.0f, kRepeats, 30.0f)});
      speculating.speculation.prompt_lookup = *rc::gen::arbitrary<bool>();
      speculating.speculation.draft_kv_bytes = 20 * 512;
    }
    EngineBench with(speculating, {.vocab_size = EngineBench::kVocab, .repeats = kRepeats}, blocks);
    EngineBench without = repeating(false, scheduler, blocks);
    const std::vector<Said> said = play(with, script, row_ms), expected = play(without, script, row_ms);
    RC_ASSERT(said.size() == expected.size());
    for (size_t i = 0; i < said.size(); ++i) RC_ASSERT(said[i] == expected[i]);
    with.steps(1);
    RC_ASSERT(with.held() == 0);
    accepted += with.engine->stats().accepted_tokens;
  }));
  EXPECT_GT(accepted, 1000) << "hardly anything was speculated";
}

TEST(Speculation, ARealModelSaysTheSame) {
  for (const char* const name : {"builder_llama_int4", "builder_llama_fp32"}) {
    SCOPED_TRACE(name);
    std::vector<TokenId> prompt;
    for (int i = 0; i < 60; ++i) prompt.emplace_back(5 + i * i % 12);  // repeats itself every 12 tokens
    const auto answer = [&](bool speculates, std::vector<TokenId> tokens) {
      LoadedModel model = load_model(test::fixture_folder(name), {.threads = 2});
      double steps = 0;  // a clock that makes every guess worth checking
      test::LoadedEngine engine(std::move(model), {.speculation = {.prompt_lookup = speculates},
                                                   .clock_ms = [&steps] { return steps += 1; }});
      Request request = test::greedy(std::move(tokens), 60);
      request.sampling.logit_bias = {{TokenId(9), 100.0f}, {TokenId(17), 100.0f}};  // so little choice repeats itself
      auto greedy = engine.answer(request);
      request.sampling.temperature = 0.8f;
      request.sampling.seed = 3;
      const auto drawn = engine.answer(request);
      greedy.insert(greedy.end(), drawn.begin(), drawn.end());
      EXPECT_EQ(engine.engine->stats().proposed_tokens > 0, speculates);
      return greedy;
    };
    EXPECT_EQ(answer(true, prompt), answer(false, prompt));
  }
}

TEST(RowCost, ReckonsBetweenAndBeyondWhatWasMeasured) {
  RowCost cost;
  EXPECT_FALSE(cost.known());
  cost.record(1, 10);
  EXPECT_TRUE(cost.known());
  EXPECT_EQ(cost.ms(1), 10);
  EXPECT_GT(cost.ms(2), 10);
  cost.record(5, 14);
  EXPECT_DOUBLE_EQ(cost.ms(3), 12);
  EXPECT_NEAR(cost.ms(9), 18, 1e-9);
  EXPECT_EQ(cost.ms(300), cost.ms(RowCost::kMostRows));
}

TEST(RowCost, AHiccupSaysLittle) {
  RowCost cost;
  for (int i = 0; i < 30; ++i) cost.record(1, 10);
  cost.record(1, 1000);
  EXPECT_LT(cost.ms(1), 11);
  for (int i = 0; i < 60; ++i) cost.record(1, 30);
  EXPECT_NEAR(cost.ms(1), 30, 1);
}

}  // namespace
}  // namespace genai
