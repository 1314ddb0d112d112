#include "gen/engine.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "gen/engine_bench.h"

namespace genai {
namespace {

using Reason = Finish::Reason;

TEST(Engine, AnswersUpToTheLength) {
  EngineBench bench;
  const auto prompt = EngineBench::prompt(1, 37);
  const auto events = bench.run(EngineBench::greedy(prompt, 40));
  const auto expected = EngineBench::expected(prompt, 40);
  EXPECT_EQ(tokens_of(events), expected);
  EXPECT_EQ(reason_of(events), Reason::length);
  EXPECT_EQ(events.back().usage.prompt_tokens, 37);
  EXPECT_EQ(events.back().usage.completion_tokens, 40);
  EXPECT_EQ(events.back().usage.cached_tokens, 0);
  EXPECT_EQ(bench.held(), 0);
}

TEST(Engine, SendsTheTextPieceByPieceAndCharactersWhole) {
  EngineBench bench;
  const auto prompt = EngineBench::prompt(1, 5);
  const auto events = bench.run(EngineBench::greedy(prompt, 60));
  std::string whole = EngineBench::text_of(EngineBench::expected(prompt, 60));
  // The halves of "é" are invalid alone; compare what the letters say, in order.
  const auto letters = [](const std::string& text) {
    std::string kept;
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 0x80) kept += c;
    }
    return kept;
  };
  EXPECT_EQ(letters(text_of(events)), letters(whole));
}

TEST(Engine, StopsAtAnEndOfTextTokenUnlessToldNotTo) {
  EngineBench bench;
  const auto prompt = EngineBench::prompt(2, 20);
  const auto expected = EngineBench::expected(prompt, 30);
  Request request = EngineBench::greedy(prompt, 30);
  request.eos = {expected[7]};
  const size_t at = std::find(expected.begin(), expected.end(), expected[7]) - expected.begin();
  const auto events = bench.run(request);
  EXPECT_EQ(reason_of(events), Reason::stop);
  EXPECT_EQ(tokens_of(events).size(), at + 1);
  EXPECT_EQ(events.back().token, expected[7]);
  EXPECT_EQ(text_of(events).size(), text_of(bench.run(EngineBench::greedy(prompt, static_cast<int>(at)))).size());
  request.ignore_eos = true;
  EXPECT_EQ(tokens_of(bench.run(request)), expected);
}

TEST(Engine, CutsTheTextAtAStopString) {
  EngineBench bench;
  const auto prompt = EngineBench::prompt(3, 20);
  const std::string whole = text_of(bench.run(EngineBench::greedy(prompt, 30)));
  Request request = EngineBench::greedy(prompt, 30);
  request.stop = {"nowhere", whole.substr(10, 3)};
  const auto events = bench.run(request);
  EXPECT_EQ(reason_of(events), Reason::stop_string);
  EXPECT_EQ(events.back().finish->matched, 1);
  EXPECT_EQ(text_of(events), whole.substr(0, whole.find(request.stop[1])));
}

TEST(Engine, ManyRequestsTogetherEachAsAlone) {
  EngineBench bench({.scheduler = {.max_sequences = 5, .reserve_tokens = 16}}, {.vocab_size = EngineBench::kVocab}, 24);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 20; ++i)
    tickets.push_back(bench.engine->submit(EngineBench::greedy(EngineBench::prompt(i, 3 + 7 * i), 15)));
  for (int i = 0; i < 20; ++i) {
    const auto events = bench.finish(tickets[i]);
    EXPECT_EQ(tokens_of(events), EngineBench::expected(EngineBench::prompt(i, 3 + 7 * i), 15)) << i;
  }
}

TEST(Engine, DestroyingTheTicketCancelsBeforeTheNextStep) {
  EngineBench bench;
  {
    const Ticket ticket = bench.engine->submit(EngineBench::greedy(EngineBench::prompt(1, 20), 100));
    bench.steps(3);
    EXPECT_GT(bench.engine->stats().kv.used, 0);
  }
  const int64_t rows = bench.model->rows;
  EXPECT_FALSE(bench.engine->step());
  EXPECT_EQ(bench.model->rows, rows);
  EXPECT_EQ(bench.engine->stats().running, 0);
  EXPECT_EQ(bench.held(), 0);
}

TEST(Engine, ARequestWhoseReaderLeftTheQueueNeverRuns) {
  EngineBench bench({.scheduler = {.max_sequences = 1}});
  Ticket running = bench.engine->submit(EngineBench::greedy(EngineBench::prompt(1, 5), 5));
  {
    const Ticket gone = bench.engine->submit(EngineBench::greedy(EngineBench::prompt(2, 30), 5));
  }
  Ticket third = bench.engine->submit(EngineBench::greedy(EngineBench::prompt(3, 6), 5));
  bench.finish(running);
  bench.finish(third);
  EXPECT_EQ(bench.model->rows, 5 + 4 + 6 + 4);
}

TEST(Engine, CancelDeliversATerminalEvent) {
  EngineBench bench;
  Ticket ticket = bench.engine->submit(EngineBench::greedy(EngineBench::prompt(1, 20), 100));
  bench.steps(3);
  ticket.cancel();
  EXPECT_EQ(reason_of(bench.finish(ticket)), Reason::cancelled);
}

TEST(Engine, OnlyTheSequenceThatFailsAloneFails) {
  EngineBench bench;
  const TokenId poison(54);
  bench.model->before_forward = [&](const Step& step) {
    for (const StepSequence& s : step.sequences) {
      if (s.tokens.front() == poison && s.past == 0) throw std::runtime_error("poisoned");
    }
  };
  Ticket good = bench.engine->submit(EngineBench::greedy(EngineBench::prompt(1, 20), 30));
  bench.steps(2);
  Ticket bad = bench.engine->submit(EngineBench::greedy({poison, TokenId(1)}, 30));
  Ticket also_good = bench.engine->submit(EngineBench::greedy(EngineBench::prompt(2, 20), 30));
  const auto failed = bench.finish(bad);
  EXPECT_EQ(reason_of(failed), Reason::failed);
  EXPECT_EQ(failed.back().finish->error->message(), "poisoned");
  EXPECT_EQ(tokens_of(bench.finish(good)), EngineBench::expected(EngineBench::prompt(1, 20), 30));
  EXPECT_EQ(tokens_of(bench.finish(also_good)), EngineBench::expected(EngineBench::prompt(2, 20), 30));
  EXPECT_EQ(bench.held(), 0);
}

TEST(Engine, LogitsThatAreNotNumbersFailTheirSequenceOnly) {
  EngineBench bench;
  Ticket bad = bench.engine->submit(EngineBench::greedy(EngineBench::prompt(1, 20), 30));
  Ticket good = bench.engine->submit(EngineBench::greedy(EngineBench::prompt(2, 20), 30));
  bench.model->after_row = [&](const StepSequence& s, std::span<float> logits) {
    if (s.id == SequenceId(0) && s.past == 25) logits[3] = std::nanf("");
  };
  const auto failed = bench.finish(bad);
  EXPECT_EQ(reason_of(failed), Reason::failed);
  EXPECT_THAT(failed.back().finish->error->message(), testing::HasSubstr("NaN"));
  EXPECT_EQ(tokens_of(failed).size(), 6u);
  EXPECT_EQ(tokens_of(bench.finish(good)).size(), 30u);
}

TEST(Engine, AReaderThatDoesNotDrainPausesOnlyItself) {
  EngineBench bench({.output_buffer = 4, .delivery_grace_ms = 1000});
  Ticket slow = bench.engine->submit(EngineBench::greedy(EngineBench::prompt(1, 5), 40));
  Ticket fast = bench.engine->submit(EngineBench::greedy(EngineBench::prompt(2, 5), 40));
  EXPECT_EQ(tokens_of(bench.finish(fast)).size(), 40u);
  EXPECT_FALSE(bench.engine->step()) << "the slow one waits for its reader";
  EXPECT_EQ(bench.engine->stats().paused, 1);
  bench.clock = 999;
  EXPECT_EQ(tokens_of(bench.finish(slow)), EngineBench::expected(EngineBench::prompt(1, 5), 40));
}

TEST(Engine, AStalledReaderEndsAfterTheGrace) {
  EngineBench bench({.output_buffer = 4, .delivery_grace_ms = 1000});
  Ticket slow = bench.engine->submit(EngineBench::greedy(EngineBench::prompt(1, 5), 40));
  bench.steps(10);
  bench.clock = 1000;
  bench.engine->step();
  EXPECT_EQ(bench.engine->stats().running, 0);
  const auto events = bench.finish(slow);
  EXPECT_EQ(events.size(), 5u);
  EXPECT_EQ(reason_of(events), Reason::stalled);
}

TEST(Engine, RefusesWithNumbersBeforeAnyWork) {
  EngineBench bench({.scheduler = {.max_sequences = 2}, .max_queue = 1},
                    {.vocab_size = EngineBench::kVocab, .context_length = 100}, 5);
  const auto message = [&](Request request) -> std::string {
    try {
      const Ticket ticket = bench.engine->submit(std::move(request));
    } catch (const Error& e) {
      return e.text();
    }
    return "accepted";
  };
  using testing::HasSubstr;
  EXPECT_THAT(message(EngineBench::greedy({}, 5)), HasSubstr("the prompt has no tokens"));
  EXPECT_THAT(message(EngineBench::greedy({TokenId(55)}, 5)), HasSubstr("token 0 is 55, expected 0 to 54"));
  EXPECT_THAT(message(EngineBench::greedy(EngineBench::prompt(1, 100), 5)),
              HasSubstr("100 tokens, expected fewer than the context length 100"));
  EXPECT_THAT(message(EngineBench::greedy(EngineBench::prompt(1, 60), 30)),
              HasSubstr("90 tokens (60 of them the prompt), the KV cache holds 80"));
  EXPECT_THAT(message(EngineBench::greedy(EngineBench::prompt(1, 6), 0)),
              HasSubstr("max_tokens is 0, expected at least 1"));
  Request many = EngineBench::greedy(EngineBench::prompt(1, 6), 5);
  many.n = 3;
  EXPECT_THAT(message(many), HasSubstr("n is 3, expected 1 to 2"));
  many.n = 1;
  many.stop = {""};
  EXPECT_NE(message(many), "accepted");
  std::vector<Ticket> tickets;
  for (int i = 0; i < 3; ++i)
    tickets.push_back(bench.engine->submit(EngineBench::greedy(EngineBench::prompt(i, 6), 5)));
  EXPECT_THAT(message(EngineBench::greedy(EngineBench::prompt(1, 6), 5)), HasSubstr("the queue is full: 3"));
  for (Ticket& ticket : tickets) EXPECT_EQ(bench.finish(ticket).size(), 5u);
  EXPECT_EQ(message(EngineBench::greedy(EngineBench::prompt(1, 6), 5)), "accepted");
}

TEST(Engine, WithoutALimitTheAnswerEndsWithTheContextOrThePool) {
  EngineBench context({}, {.vocab_size = EngineBench::kVocab, .context_length = 50}, 100);
  Request request{.prompt = EngineBench::prompt(1, 10), .sampling = {.temperature = 0}};
  EXPECT_EQ(tokens_of(context.run(request)).size(), 40u);
  EngineBench pool({}, {.vocab_size = EngineBench::kVocab, .context_length = 50}, 2);
  EXPECT_EQ(tokens_of(pool.run(request)).size(), 22u);
}

TEST(Engine, SeveralAnswersShareThePromptAndDrawTheirOwn) {
  EngineBench bench;
  const auto prompt = EngineBench::prompt(1, 60);
  const Request request{.prompt = prompt, .max_tokens = 10, .sampling = {.seed = 3}, .n = 4};
  const auto answers = [](const std::vector<Event>& events) {
    std::vector<std::vector<TokenId>> lists(4);
    for (const Event& e : events) lists[e.index].push_back(e.token);
    return lists;
  };
  const auto first = answers(bench.run(request));
  EXPECT_EQ(bench.model->rows, 60 + 3 + 4 * 9);
  for (const auto& list : first) EXPECT_EQ(list.size(), 10u);
  EXPECT_NE(first[0], first[1]);

  // The same seed gives the same text among strangers and from a warm cache.
  Ticket stranger = bench.engine->submit(EngineBench::greedy(EngineBench::prompt(9, 30), 30));
  EXPECT_EQ(answers(bench.run(request)), first);
}

TEST(Engine, LogprobsAreOfTheModelAndPromptsCanBeScored) {
  EngineBench bench;
  const auto prompt = EngineBench::prompt(1, 150);
  bench.run(EngineBench::greedy(prompt, 1));  // a warm cache must not hide rows
  Request request = EngineBench::greedy(prompt, 0);
  request.prompt_logprobs = 2;
  const auto scored = bench.run(request);
  ASSERT_EQ(scored.size(), 1u);
  EXPECT_EQ(reason_of(scored), Reason::length);
  ASSERT_EQ(scored[0].prompt_logprobs.size(), 149u);
  std::vector<float> logits(EngineBench::kVocab);
  for (size_t i = 1; i < prompt.size(); ++i) {
    FakeModel::logits_after(std::span(prompt).first(i), logits);
    const TokenLogprob expected = logprob_of(logits, prompt[i], 2);
    EXPECT_EQ(scored[0].prompt_logprobs[i - 1].token, prompt[i]);
    EXPECT_EQ(scored[0].prompt_logprobs[i - 1].logprob, expected.logprob);
    EXPECT_EQ(scored[0].prompt_logprobs[i - 1].top[1].token, expected.top[1].token);
  }
  request = EngineBench::greedy(prompt, 3);
  request.logprobs = 1;
  request.sampling.logit_bias = {{TokenId(5), 100.0f}};
  for (const Event& e : bench.run(request)) {
    EXPECT_EQ(e.token, TokenId(5));
    ASSERT_TRUE(e.logprob.has_value());
    EXPECT_EQ(e.logprob->token, TokenId(5));
    EXPECT_LT(e.logprob->logprob, -0.5f) << "the bias isn't the model's";
    EXPECT_NE(e.logprob->top[0].token, TokenId(5));
  }
}

TEST(Engine, TimingsAndWarmPromptsAreReported) {
  EngineBench bench;
  const auto prompt = EngineBench::prompt(1, 100);
  bench.run(EngineBench::greedy(prompt, 5));
  bench.clock = 100;
  Ticket ticket = bench.engine->submit(EngineBench::greedy(prompt, 5));
  bench.clock = 130;
  bench.model->before_forward = [&](const Step&) { bench.clock += 10; };
  const auto events = bench.finish(ticket);
  EXPECT_EQ(events.back().usage.cached_tokens, 96);
  EXPECT_EQ(events.back().timings.queued_ms, 30);
  EXPECT_EQ(events.back().timings.prefill_ms, 10);
  EXPECT_EQ(events.back().timings.first_token_ms, 40);
  EXPECT_EQ(events.back().timings.decode_ms, 40);
  EXPECT_EQ(tokens_of(events), EngineBench::expected(prompt, 5));
}

TEST(Engine, RefusesOptionsItCannotHonour) {
  EXPECT_THROW(EngineBench({.scheduler = {.max_sequences = 0}}), Error);
  EXPECT_THROW(EngineBench({.scheduler = {.max_sequences = 65}}), Error);
  EXPECT_THROW(EngineBench({.output_buffer = 0}), Error);
}

}  // namespace
}  // namespace genai
