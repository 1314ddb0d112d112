// Conversations: continue, fork, rewind, save, restore, and what a turn leaves behind.
#include <gmock/gmock.h>

#include "gen/engine_bench.h"

namespace genai {
namespace {

using Reason = Finish::Reason;

std::vector<TokenId> joined(std::vector<TokenId> a, const std::vector<TokenId>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Event> turn(EngineBench& bench, ContextId context, const std::vector<TokenId>& prompt, int max_tokens) {
  Request request = EngineBench::greedy(prompt, max_tokens);
  request.context = context;
  return bench.run(request);
}

class Contexts : public testing::TestWithParam<bool> {
 protected:
  EngineBench bench{{}, {.vocab_size = EngineBench::kVocab, .paged = GetParam()}};
  Engine& engine = *bench.engine;
};

TEST_P(Contexts, EachTurnComputesOnlyItsNewTokens) {
  const ContextId context = engine.create_context();
  std::vector<TokenId> history;
  for (int t = 0; t < 10; ++t) {
    const auto prompt = EngineBench::prompt(t, 7);
    history = joined(history, prompt);
    const int64_t rows = bench.model->rows;
    const auto events = turn(bench, context, prompt, 6);
    const auto expected = EngineBench::expected(history, 6);
    ASSERT_EQ(tokens_of(events), expected) << t;
    history = joined(history, expected);
    EXPECT_EQ(engine.tokens(context), history);
    // The last token of the turn before was sampled, not computed: it counts as new.
    EXPECT_EQ(bench.model->rows - rows, 7 + 5 + (t > 0 ? 1 : 0));
    EXPECT_EQ(events.back().usage.cached_tokens, std::max(0, 13 * t - 1));
  }
}

TEST_P(Contexts, RewindingEqualsNeverHavingGoneFurther) {
  for (int64_t position : {0, 1, 15, 16, 17, 31, 32, 33, 60, 69, 70}) {
    SCOPED_TRACE(position);
    const ContextId context = engine.create_context();
    turn(bench, context, EngineBench::prompt(1, 40), 30);
    std::vector<TokenId> kept = engine.tokens(context);
    kept.resize(static_cast<size_t>(position));
    engine.rewind(context, position);
    EXPECT_EQ(engine.tokens(context), kept);
    const auto more = position == 0 ? EngineBench::prompt(5, 3) : std::vector<TokenId>{};
    const auto first = turn(bench, context, more, 4);
    EXPECT_EQ(tokens_of(first), EngineBench::expected(joined(kept, more), 4));
    EXPECT_EQ(
        tokens_of(turn(bench, context, EngineBench::prompt(6, 9), 5)),
        EngineBench::expected(joined(joined(joined(kept, more), tokens_of(first)), EngineBench::prompt(6, 9)), 5));
    EXPECT_THROW(engine.rewind(context, 1000), Error);
    EXPECT_THROW(engine.rewind(context, -1), Error);
    engine.close(context);
  }
  EXPECT_EQ(bench.model->caches(), 0u);
}

TEST_P(Contexts, ForksGoTheirOwnWays) {
  const ContextId a = engine.create_context();
  turn(bench, a, EngineBench::prompt(1, 40), 30);
  const auto history = engine.tokens(a);
  const ContextId b = engine.fork(a, 50);
  EXPECT_EQ(engine.tokens(b), std::vector<TokenId>(history.begin(), history.begin() + 50));
  EXPECT_EQ(tokens_of(turn(bench, b, EngineBench::prompt(2, 5), 6)),
            EngineBench::expected(joined({history.begin(), history.begin() + 50}, EngineBench::prompt(2, 5)), 6));
  EXPECT_EQ(tokens_of(turn(bench, a, EngineBench::prompt(3, 5), 6)),
            EngineBench::expected(joined(history, EngineBench::prompt(3, 5)), 6));
  EXPECT_THROW(engine.fork(a, 1000), Error);
  engine.close(a);
  EXPECT_EQ(engine.tokens(b).size(), 61u);
  engine.close(b);
  EXPECT_THROW(engine.tokens(b), Error);
  EXPECT_EQ(bench.model->caches(), 0u);
}

TEST_P(Contexts, ATurnThatDiesLeavesTheLastCommittedTurn) {
  const ContextId context = engine.create_context();
  turn(bench, context, EngineBench::prompt(1, 20), 10);
  const auto history = engine.tokens(context);
  Request request = EngineBench::greedy(EngineBench::prompt(2, 20), 50);
  request.context = context;
  {
    const Ticket ticket = engine.submit(request);
    bench.steps(10);
  }
  bench.steps(1);
  EXPECT_EQ(engine.tokens(context), history);
  Ticket failing = engine.submit(request);
  bench.steps(2);
  bench.model->before_forward = [](const Step&) { throw Error(Code::internal, "broken"); };
  EXPECT_EQ(reason_of(bench.finish(failing)), Reason::failed);
  bench.model->before_forward = nullptr;
  EXPECT_EQ(engine.tokens(context), history);
  EXPECT_EQ(tokens_of(turn(bench, context, EngineBench::prompt(2, 20), 9)),
            EngineBench::expected(joined(history, EngineBench::prompt(2, 20)), 9));
}

TEST_P(Contexts, TheGuardIsReleasedAfterTheCommitAndBeforeTheTerminalEvent) {
  const ContextId context = engine.create_context();
  Request request = EngineBench::greedy(EngineBench::prompt(1, 5), 3);
  request.context = context;
  std::unique_ptr<Ticket> ticket;
  bool released = false;
  request.guard = std::shared_ptr<void>(nullptr, [&](void*) {
    released = true;
    EXPECT_EQ(engine.tokens(context).size(), 8u);
    while (auto event = ticket->try_next()) EXPECT_FALSE(event->finish.has_value());
  });
  ticket = std::make_unique<Ticket>(engine.submit(std::move(request)));
  for (int i = 0; i < 10 && !released; ++i) bench.steps(1);
  EXPECT_TRUE(released);
  EXPECT_TRUE(ticket->try_next()->finish.has_value());
  EXPECT_TRUE(ticket->done());
}

INSTANTIATE_TEST_SUITE_P(PagedAndDense, Contexts, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Paged" : "Dense"; });

TEST(Context, ParkedOnesGiveWayAndAreComputedAgain) {
  EngineBench bench({}, {.vocab_size = EngineBench::kVocab}, 12);
  std::vector<ContextId> contexts;
  for (int i = 0; i < 5; ++i) {
    contexts.push_back(bench.engine->create_context());
    turn(bench, contexts[i], EngineBench::prompt(i, 50), 10);
  }
  for (int i = 0; i < 5; ++i) {
    const auto history = bench.engine->tokens(contexts[i]);
    ASSERT_EQ(history.size(), 60u);
    EXPECT_EQ(tokens_of(turn(bench, contexts[i], EngineBench::prompt(9, 3), 5)),
              EngineBench::expected(joined(history, EngineBench::prompt(9, 3)), 5));
  }
}

TEST(Context, SavedAndRestoredIsReallyUsed) {
  EngineBench bench;
  const ContextId context = bench.engine->create_context();
  turn(bench, context, EngineBench::prompt(1, 40), 30);
  const ContextImage image = bench.engine->save(context);
  EXPECT_EQ(image.computed, 69);

  EngineBench fresh;
  const ContextId restored = fresh.engine->restore(image);
  const auto events = turn(fresh, restored, EngineBench::prompt(2, 5), 6);
  EXPECT_EQ(events.back().usage.cached_tokens, 69);
  EXPECT_EQ(tokens_of(events), tokens_of(turn(bench, context, EngineBench::prompt(2, 5), 6)));

  ContextImage wrong = image;
  wrong.kv.pop_back();
  EXPECT_THROW(fresh.engine->restore(wrong), Error);
  wrong = image;
  wrong.block_bytes *= 2;
  EXPECT_THROW(fresh.engine->restore(wrong), Error);
  wrong = image;
  wrong.tokens[3] = TokenId(1000);
  EXPECT_THROW(fresh.engine->restore(wrong), Error);
  wrong = image;
  wrong.computed = 71;
  EXPECT_THROW(fresh.engine->restore(wrong), Error);
}

TEST(Context, ATooLongTurnIsRefusedAndSoIsAnUnknownContext) {
  EngineBench bench({}, {.vocab_size = EngineBench::kVocab, .context_length = 64});
  const ContextId context = bench.engine->create_context();
  turn(bench, context, EngineBench::prompt(1, 40), 10);
  Request request = EngineBench::greedy(EngineBench::prompt(1, 14), 10);
  request.context = context;
  EXPECT_THROW(bench.engine->submit(request), Error);
  request.context = ContextId(77);
  EXPECT_THROW(bench.engine->submit(request), Error);
}

// Hears what the reader will, before the reader can.
struct Listener : EventListener {
  void before(const Event& event) noexcept override {
    tokens += event.token.valid();
    guard_held_at_the_end = event.finish ? !guard.expired() : guard_held_at_the_end;
  }
  void available() noexcept override { ++events; }
  std::weak_ptr<void> guard;
  int tokens = 0, events = 0;
  bool guard_held_at_the_end = false;
};

TEST(Context, ATurnCanKeepOnlyTheBeginning) {
  EngineBench bench;
  const ContextId context = bench.engine->create_context();
  Request first = EngineBench::greedy(EngineBench::prompt(1, 40), 10);
  first.context = context;
  bench.run(std::move(first));
  for (const int64_t keep : {int64_t{0}, int64_t{17}, int64_t{50}}) {
    SCOPED_TRACE(keep);
    const ContextId branch = bench.engine->fork(context, 50);
    std::vector<TokenId> expected = bench.engine->tokens(branch);
    expected.resize(static_cast<size_t>(keep));
    const auto more = EngineBench::prompt(5, 3);
    expected.insert(expected.end(), more.begin(), more.end());
    Request next = EngineBench::greedy(more, 6);
    next.context = branch;
    next.keep = keep;
    const auto events = bench.run(std::move(next));
    EXPECT_EQ(tokens_of(events), EngineBench::expected(expected, 6));
    EXPECT_EQ(events.back().usage.cached_tokens, std::min<int64_t>(keep, 49));  // the 50th was sampled, never run
    EXPECT_EQ(bench.engine->tokens(branch).size(), static_cast<size_t>(keep) + 9);
  }
  Request beyond = EngineBench::greedy(EngineBench::prompt(1, 3), 6);
  beyond.context = context;
  beyond.keep = 51;
  EXPECT_THROW(bench.engine->submit(std::move(beyond)), Error);
}

TEST(Context, AListenerHearsTheEndWhileTheGuardIsHeld) {
  EngineBench bench;
  auto listener = std::make_shared<Listener>();
  Request request = EngineBench::greedy(EngineBench::prompt(1, 5), 7);
  request.guard = std::make_shared<int>(1);
  listener->guard = request.guard;
  request.listener = listener;
  bench.run(std::move(request));
  EXPECT_EQ(listener->tokens, 7);
  EXPECT_EQ(listener->events, 7);
  EXPECT_TRUE(listener->guard_held_at_the_end);
  EXPECT_TRUE(listener->guard.expired());
}

}  // namespace
}  // namespace genai
