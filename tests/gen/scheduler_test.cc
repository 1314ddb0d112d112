// Random schedules on the fake model: whatever the pool, the chunks, the neighbours, the forks and rewinds, each
// sequence gets exactly the tokens it has alone.
#include "gen/scheduler.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>
#include <functional>
#include <set>

#include "support/fake_model.h"

namespace genai {
namespace {

constexpr int kVocab = 61;

std::vector<TokenId> prompt_of(int seed, int length) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < length; ++i) tokens.emplace_back((seed * 31 + i * i + 7) % kVocab);
  return tokens;
}

// What the engine does, without text and threads.
struct Bench {
  Bench(int64_t blocks, SchedulerOptions options, bool paged = true)
      : model({.vocab_size = kVocab, .max_step_rows = options.max_step_rows, .paged = paged}),
        cache(model, blocks * model.kv_layout().block_bytes),
        scheduler(options, cache) {}

  Sequence& submit(std::vector<TokenId> prompt, int answer, int priority = 0) {
    Sequence& s = sequences.emplace_back();
    s.id = SequenceId(static_cast<int64_t>(sequences.size()));
    s.tokens = std::move(prompt);
    s.prompt = s.length();
    s.limit = s.prompt + answer;
    s.priority = priority;
    s.arrival = s.id.value;
    scheduler.add(s);
    live.insert(&s);
    return s;
  }

  void end(Sequence& s) {
    scheduler.remove(s);
    cache.release(s);
    live.erase(&s);
    for (Sequence& other : sequences) {
      if (other.leader == &s) other.leader = nullptr;
    }
  }

  using Cost = std::function<double(const Batch&)>;  // milliseconds
  Batch step(const Cost& cost = [](const Batch&) { return 1.0; }) {
    const Batch batch = scheduler.next();
    std::vector<StepSequence> rows;
    int64_t logits_rows = 0;
    for (const Slot& slot : batch.slots) {
      const Sequence& s = *slot.sequence;
      rows.push_back({s.id, std::span(s.tokens).subspan(static_cast<size_t>(s.computed), slot.rows), s.computed,
                      s.blocks, slot.logits_rows});
      logits_rows += slot.logits_rows;
    }
    if (rows.empty()) return batch;
    std::vector<float> logits(static_cast<size_t>(logits_rows * kVocab));
    model.forward({cache.memory(), rows}, logits);
    scheduler.settle(batch, cost(batch));
    auto at = logits.begin();
    for (const Slot& slot : batch.slots) {
      at += static_cast<ptrdiff_t>(slot.logits_rows) * kVocab;
      if (!slot.samples) continue;
      slot.sequence->tokens.emplace_back(static_cast<int32_t>(std::max_element(at - kVocab, at) - (at - kVocab)));
      if (slot.sequence->length() >= slot.sequence->limit) end(*slot.sequence);
    }
    return batch;
  }

  void run() {
    for (int steps = 0; !live.empty(); ++steps) {
      ASSERT_LT(steps, 100000) << "no progress";
      ASSERT_FALSE(step().slots.empty()) << live.size() << " sequences wait for ever";
    }
  }

  static void expect_alone(const Sequence& s) {
    std::vector<TokenId> prompt(s.tokens.begin(), s.tokens.begin() + s.prompt);
    const auto expected = FakeModel::greedy_answer(prompt, static_cast<int>(s.length() - s.prompt), kVocab);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), s.tokens.begin() + s.prompt));
  }

  FakeModel model;
  KvCache cache;
  Scheduler scheduler;
  std::deque<Sequence> sequences;
  std::set<Sequence*> live;
};

TEST(Scheduler, MixesDecodesAndAPromptChunkInOneStep) {
  Bench bench(100, {.max_sequences = 4, .max_step_rows = 32});
  Sequence& a = bench.submit(prompt_of(1, 5), 50);
  bench.step();
  ASSERT_EQ(a.length(), 6);
  bench.submit(prompt_of(2, 90), 4);
  const Batch batch = bench.step();
  ASSERT_EQ(batch.slots.size(), 2u);
  EXPECT_EQ(batch.slots[0].sequence, &a);
  EXPECT_EQ(batch.slots[0].rows, 1);
  EXPECT_EQ(batch.slots[1].rows, 16);  // 31 rows are left; the chunk ends with a block
  EXPECT_EQ(batch.slots[1].logits_rows, 0);
}

TEST(Scheduler, KeepsTheStepWithinItsTimeOnceMeasured) {
  Bench bench(1000, {.max_sequences = 4, .max_step_rows = 512, .max_step_ms = 100});
  bench.submit(prompt_of(1, 5), 400);
  const auto cost = [](const Batch& b) { return 20.0 + 0.5 * b.prompt_rows; };
  for (int i = 0; i < 4; ++i) bench.step(cost);
  Sequence& prompt = bench.submit(prompt_of(2, 3000), 4);
  double worst = 0;
  for (int i = 0; prompt.computed + 160 < prompt.prompt && i < 200; ++i)
    worst = std::max(worst, cost(bench.step(cost)));
  EXPECT_LE(worst, 100);
  EXPECT_GT(worst, 60) << "the bound isn't used";
}

TEST(Scheduler, SharesAPrefixThatAnotherSequenceIsComputing) {
  Bench bench(100, {.max_sequences = 4, .max_step_rows = 64});
  for (int i = 0; i < 3; ++i) bench.submit(prompt_of(1, 60), 5);
  bench.run();
  // 60 tokens once, then the last, partial block of the two others; 4 more decode rows each.
  EXPECT_EQ(bench.model.rows, 60 + 2 * 12 + 3 * 4);
  EXPECT_EQ(bench.sequences[2].cached, 48);
  for (const Sequence& s : bench.sequences) Bench::expect_alone(s);
}

TEST(Scheduler, FollowersForkTheLeadersPromptDownToItsLastToken) {
  Bench bench(100, {.max_sequences = 4, .max_step_rows = 64});
  Sequence& leader = bench.submit(prompt_of(1, 60), 5);
  for (int i = 0; i < 3; ++i) bench.submit(prompt_of(1, 60), 5).leader = &leader;
  bench.run();
  EXPECT_EQ(bench.model.rows, 60 + 3 * 1 + 4 * 4);
  for (const Sequence& s : bench.sequences) Bench::expect_alone(s);
}

TEST(Scheduler, ServesHigherPriorityFirstAndFirstComeWithin) {
  Bench bench(100, {.max_sequences = 1, .max_step_rows = 64});
  Sequence& first = bench.submit(prompt_of(1, 5), 5, 0);
  bench.step();
  Sequence& late = bench.submit(prompt_of(2, 5), 5, 0);
  Sequence& urgent = bench.submit(prompt_of(3, 5), 5, 1);
  bench.step();
  EXPECT_TRUE(urgent.running);
  EXPECT_FALSE(first.running) << "a lower priority gives its row up";
  while (bench.live.count(&first) != 0) bench.step();
  EXPECT_EQ(late.length(), 5);
  bench.run();
  for (const Sequence& s : bench.sequences) Bench::expect_alone(s);
}

TEST(Scheduler, WaitsWithoutOvertakingWhenThePoolIsReserved) {
  Bench bench(10, {.max_sequences = 8, .max_step_rows = 64, .reserve_tokens = 1000});
  Sequence& a = bench.submit(prompt_of(1, 16), 100);  // 8 blocks
  Sequence& b = bench.submit(prompt_of(2, 16), 30);   // 3 blocks: waits
  Sequence& c = bench.submit(prompt_of(3, 8), 4);     // 1 block: fits, but came later
  bench.step();
  EXPECT_TRUE(a.running);
  EXPECT_FALSE(b.running);
  EXPECT_FALSE(c.running);
  bench.run();
  EXPECT_EQ(bench.scheduler.preemptions(), 0);
}

TEST(Scheduler, PreemptsTheLatestWhenBlocksRunOutAndTokensStay) {
  Bench bench(8, {.max_sequences = 8, .max_step_rows = 64, .reserve_tokens = 0});
  for (int i = 0; i < 4; ++i) bench.submit(prompt_of(i, 20), 60);
  bench.run();
  EXPECT_GT(bench.scheduler.preemptions(), 0);
  for (const Sequence& s : bench.sequences) Bench::expect_alone(s);
}

TEST(Scheduler, NeverRunsAPausedSequence) {
  Bench bench(100, {.max_sequences = 4, .max_step_rows = 64});
  Sequence& a = bench.submit(prompt_of(1, 5), 20);
  Sequence& b = bench.submit(prompt_of(2, 5), 20);
  bench.step();
  a.paused = true;
  for (int i = 0; i < 5; ++i) bench.step();
  EXPECT_EQ(a.length(), 6);
  EXPECT_EQ(b.length(), 11);
  a.paused = false;
  bench.run();
  Bench::expect_alone(a);
}

TEST(Scheduler, DenseModelsTakeTurns) {
  Bench bench(0, {.max_sequences = 4, .max_step_rows = 16}, false);
  for (int i = 0; i < 3; ++i) bench.submit(prompt_of(i, 20 + i), 6);
  std::vector<int64_t> order;
  while (!bench.live.empty()) {
    const Batch batch = bench.step();
    ASSERT_EQ(batch.slots.size(), 1u);
    order.push_back(batch.slots[0].sequence->id.value);
  }
  EXPECT_EQ((std::vector<int64_t>(order.begin(), order.begin() + 6)), (std::vector<int64_t>{1, 2, 3, 1, 2, 3}));
  for (const Sequence& s : bench.sequences) Bench::expect_alone(s);
  EXPECT_EQ(bench.model.caches(), 0u);
}

// Whole blocks of one of two kinds: prompts that share prefixes, and contents that come again below other parents.
std::vector<TokenId> blocks_of(int kinds, int length) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < length; ++i) tokens.emplace_back((kinds >> (i / kBlockTokens) & 1) + 3);
  return tokens;
}

// Every block's references are exactly those of the sequences and the tree.
void check_pool(Bench& bench, const std::vector<Sequence*>& parked) {
  std::set<BlockId> held;
  const auto look = [&](const Sequence& s) {
    RC_ASSERT(static_cast<int64_t>(s.blocks.size()) >= blocks_for(s.computed));
    for (const BlockId block : s.blocks) held.insert(block);
  };
  for (const Sequence* s : bench.live) look(*s);
  for (const Sequence* s : parked) look(*s);
  const BlockStats stats = bench.cache.stats();
  RC_ASSERT(stats.used == stats.cached + static_cast<int64_t>(held.size()));
}

struct Script {
  Bench& bench;
  std::vector<Sequence*> contexts;  // parked conversations

  void act(int action, int a, int b) {
    switch (action) {
      case 0:
      case 1: bench.submit(blocks_of(a, 1 + b % 90), 1 + a % 40, b % 2); break;
      case 2: cancel(a); break;
      case 3: keep(a); break;
      case 4: rewind(a, b); break;
      case 5: continue_fork(a, b); break;
      case 6: toggle_pause(a); break;
      default: bench.step(); break;
    }
  }
  Sequence* any_live(int a) {
    return bench.live.empty() ? nullptr : *std::next(bench.live.begin(), a % static_cast<int>(bench.live.size()));
  }
  void cancel(int a) {
    if (Sequence* s = any_live(a)) bench.end(*s);
  }
  // A sequence stops here and is kept as a conversation.
  void keep(int a) {
    Sequence* s = any_live(a);
    if (s == nullptr) return;
    Sequence& context = bench.sequences.emplace_back();
    context.id = SequenceId(static_cast<int64_t>(bench.sequences.size()));
    bench.scheduler.remove(*s);
    bench.cache.move(*s, context);
    bench.end(*s);
    context.prompt = context.length();
    bench.cache.park(context);
    contexts.push_back(&context);
  }
  void rewind(int a, int b) {
    if (contexts.empty()) return;
    Sequence& s = *contexts[a % contexts.size()];
    const int64_t position = b % (s.length() + 1);
    bench.cache.rewind(s, b % 3 == 0 ? position : position / kBlockTokens * kBlockTokens);
    s.prompt = s.length();
  }
  void continue_fork(int a, int b) {
    if (contexts.empty()) return;
    const Sequence& from = *contexts[a % contexts.size()];
    std::vector<TokenId> tokens = from.tokens;
    for (const TokenId token : blocks_of(b, 1 + b % 50)) tokens.push_back(token);
    if (tokens.size() > 150) return;
    Sequence& s = bench.submit(tokens, 1 + b % 30);
    bench.cache.fork(from, s, s.length() - 1);
  }
  void toggle_pause(int a) {
    if (Sequence* s = any_live(a)) s->paused = !s->paused;
  }
};

void random_schedule(bool paged) {
  const int blocks = *rc::gen::resize(100, rc::gen::inRange(16, 40));
  Bench bench(blocks,
              {.max_sequences = *rc::gen::resize(100, rc::gen::inRange(1, 7)),
               .max_step_rows = *rc::gen::resize(100, rc::gen::inRange(8, 80)),
               .max_step_ms = *rc::gen::element(0.0, 20.0),
               .reserve_tokens = *rc::gen::element(0, 8, 1000)},
              paged);
  Script script{bench, {}};
  // At a fixed size: long scripts from the first case on.
  const auto actions =
      *rc::gen::resize(150, rc::gen::container<std::vector<std::tuple<int, int, int>>>(rc::gen::tuple(
                                rc::gen::inRange(0, 14), rc::gen::inRange(0, 1000), rc::gen::inRange(0, 1000))));
  for (const auto& [action, a, b] : actions) {
    script.act(action, a, b);
    if (paged) check_pool(bench, script.contexts);
  }
  for (Sequence* s : bench.live) s->paused = false;
  for (int steps = 0; !bench.live.empty(); ++steps) {
    RC_ASSERT(steps < 20000);
    RC_ASSERT(!bench.step().slots.empty());
    if (paged) check_pool(bench, script.contexts);
  }
  for (const Sequence& s : bench.sequences) {
    const auto alone = FakeModel::greedy_answer({s.tokens.begin(), s.tokens.begin() + s.prompt},
                                                static_cast<int>(s.length() - s.prompt), kVocab);
    RC_ASSERT(std::equal(alone.begin(), alone.end(), s.tokens.begin() + s.prompt));
  }
  for (Sequence* s : script.contexts) {
    bench.cache.unpark(*s);
    bench.cache.release(*s);
  }
  bench.cache.clear_prefixes();
  RC_ASSERT(bench.cache.stats().used == 0);
  RC_ASSERT(bench.model.caches() == 0u);
}

TEST(Scheduler, GivesEverySequenceItsOwnTokensUnderAnySchedule) {
  EXPECT_TRUE(rc::check([] { random_schedule(true); }));
}

TEST(Scheduler, DenseGivesEverySequenceItsOwnTokensUnderAnySchedule) {
  EXPECT_TRUE(rc::check([] { random_schedule(false); }));
}

TEST(StepCost, LetsPromptsHaveAllRowsWhenNobodyDecodes) {
  StepCost cost(100, 512);
  EXPECT_EQ(cost.prompt_rows(0), 512);
  EXPECT_EQ(cost.prompt_rows(2), StepCost::kFirstRows);
  cost.record(0, 512, 512);
  cost.record(2, 0, 40);
  EXPECT_EQ(cost.prompt_rows(2), StepCost::kFirstRows);
  cost.record(2, 32, 72);
  EXPECT_EQ(cost.prompt_rows(2), 40);  // up to 80 % of the bound
  cost.record(2, 40, 120);             // the context grew: 2 ms per row now
  EXPECT_EQ(cost.prompt_rows(2), 20);
  cost.record(1, 0, 99);
  EXPECT_EQ(cost.prompt_rows(1), StepCost::kLeastRows);
}

TEST(StepCost, ChunksGrowStepByStep) {
  StepCost cost(1000, 512);
  cost.record(2, 0, 1);
  cost.record(0, 512, 51.2);  // large chunks are cheap; whether small ones are too isn't known
  EXPECT_EQ(cost.prompt_rows(2), 32);
  cost.record(2, 32, 4);
  EXPECT_EQ(cost.prompt_rows(2), 64);
  cost.record(2, 64, 7);
  EXPECT_EQ(cost.prompt_rows(2), 128);
  cost.record(2, 0, 1);
  EXPECT_EQ(cost.prompt_rows(2), 32);
}

// Rows that get dearer with the context, small chunks that are dearer than large ones, and a tenth of noise.
TEST(StepCost, KeepsEveryStepWithinTheBoundAndUsesIt) {
  StepCost cost(150, 512);
  uint32_t noise = 7;
  const auto ms_of = [&](int decode_rows, int prompt_rows, int context) {
    noise = noise * 1664525 + 1013904223;
    const double row_ms = 0.6 + 0.4 * context / 8192 + (prompt_rows < 256 ? 0.2 : 0.0);
    return (12.0 + decode_rows + row_ms * prompt_rows) * (0.95 + 0.1 * (noise >> 8) / (1 << 24));
  };
  for (int context = 0; context < 8192; context += 512) cost.record(0, 512, ms_of(0, 512, context));
  for (int i = 0; i < 50; ++i) cost.record(4, 0, ms_of(4, 0, 0));
  double total = 0;
  int steps = 0;
  for (int context = 0; context < 8192; ++steps) {
    const int rows = cost.prompt_rows(4);
    const double ms = ms_of(4, rows, context);
    EXPECT_LE(ms, 150) << rows << " rows at " << context;
    cost.record(4, rows, ms);
    context += rows;
    total += ms;
  }
  EXPECT_GT(total / steps, 100) << "the bound isn't used";
}

}  // namespace
}  // namespace genai
