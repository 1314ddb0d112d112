// The engine with its own thread; meant for ThreadSanitizer too.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "gen/engine.h"
#include "support/fake_model.h"
#include "support/fake_tokenizer.h"

namespace genai {
namespace {

constexpr int kVocab = 55;

std::unique_ptr<Engine> make_engine(EngineOptions options = {}) {
  auto model = std::make_unique<FakeModel>(FakeModel::Options{.vocab_size = kVocab});
  options.kv_bytes = 200 * model->kv_layout().block_bytes;
  return std::make_unique<Engine>(std::move(model), std::make_shared<FakeTokenizer>(kVocab), options);
}

Request greedy(int seed, int length, int max_tokens) {
  Request request{.max_tokens = max_tokens, .sampling = {.temperature = 0}};
  for (int i = 0; i < length; ++i) request.prompt.emplace_back((seed * 31 + i * i + 7) % kVocab);
  return request;
}

TEST(EngineThreads, ManyClientsEachGetTheirOwnAnswer) {
  const auto engine = make_engine();
  std::atomic<int> complete = 0, cancelled = 0;
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < 20; ++i) {
        const Request request = greedy(c * 20 + i, 5 + i * 3, 30);
        Ticket ticket = engine->submit(request);
        std::vector<TokenId> tokens;
        while (auto event = ticket.next()) {
          if (event->token.valid()) tokens.push_back(event->token);
          if (i % 5 == 4 && tokens.size() == 3) break;
        }
        if (i % 5 == 4) {
          ++cancelled;
        } else if (tokens == FakeModel::greedy_answer(request.prompt, 30, kVocab)) {
          ++complete;
        }
        (void)engine->stats();
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(complete, 8 * 16);
  EXPECT_EQ(cancelled, 8 * 4);
  for (int i = 0; i < 200 && engine->stats().running + engine->stats().waiting > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
  EXPECT_EQ(engine->stats().running, 0) << "a cancelled request never left its row";
  EXPECT_EQ(engine->stats().kv.used, engine->stats().kv.cached);
}

TEST(EngineThreads, TheNextTurnStartsRightAfterTheTerminalEvent) {
  const auto engine = make_engine();
  const ContextId context = engine->create_context();
  std::atomic<bool> held = false;
  size_t tokens = 0;
  for (int i = 0; i < 300; ++i) {
    ASSERT_FALSE(held.exchange(true)) << "turn " << i << " found its session held";
    Request request = greedy(i, 3, 2);
    request.context = context;
    request.guard = std::shared_ptr<void>(nullptr, [&](void*) { held = false; });
    Ticket ticket = engine->submit(std::move(request));
    while (auto event = ticket.next()) {
      if (event->finish) break;
    }
    tokens += 5;
    ASSERT_EQ(engine->tokens(context).size(), tokens);
  }
}

TEST(EngineThreads, ASlowReaderLosesNothingAndAStalledOneEnds) {
  const auto engine = make_engine({.output_buffer = 4, .delivery_grace_ms = 100});
  Ticket stalled = engine->submit(greedy(1, 5, 100));
  Ticket slow = engine->submit(greedy(2, 5, 20));
  std::vector<TokenId> tokens;
  while (auto event = slow.next()) {
    tokens.push_back(event->token);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(tokens, FakeModel::greedy_answer(greedy(2, 5, 20).prompt, 20, kVocab));
  std::optional<Event> last;
  while (auto event = stalled.next()) last = std::move(event);
  ASSERT_TRUE(last && last->finish);
  EXPECT_EQ(last->finish->reason, Finish::Reason::stalled);
}

TEST(EngineThreads, WaitingWithALimitReturns) {
  const auto engine = make_engine();
  Ticket ticket = engine->submit(greedy(1, 5, 1));
  while (!ticket.done()) ticket.next_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(ticket.next().has_value());
}

// The step stands; what is called meanwhile is withdrawn and never runs, what is closed later is closed after it.
TEST(EngineThreads, ACallThatWaitsTooLongIsWithdrawn) {
  std::atomic<bool> parked{false};
  auto model = std::make_unique<FakeModel>(FakeModel::Options{.vocab_size = kVocab});
  model->before_forward = [&](const Step&) {
    while (parked) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  Engine engine(std::move(model), std::make_shared<FakeTokenizer>(kVocab), {.call_wait_ms = 50});
  const ContextId kept =
      engine.restore({.tokens = greedy(1, 9, 1).prompt, .block_bytes = engine.stats().kv.block_bytes});
  const ContextId closed = engine.fork(kept, 3);
  parked = true;
  Ticket stuck = engine.submit(greedy(2, 5, 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  try {
    engine.rewind(kept, 0);
    ADD_FAILURE() << "a call ended within a step";
  } catch (const Error& error) {
    EXPECT_EQ(error.at(), kEngineWait);
  }
  engine.close_later(closed);
  engine.close_later(closed);  // as good as closed
  parked = false;
  while (stuck.next()) {
  }
  EXPECT_EQ(engine.tokens(kept).size(), 9u) << "a withdrawn call ran";
  EXPECT_THROW(engine.tokens(closed), Error);
}

// A fault that is nobody's in particular: the thread ends, everyone is told, nothing stays held.
TEST(EngineThreads, AFaultOutsideOfAnySequenceEndsEveryAnswer) {
  std::atomic<bool> broken{false};
  EngineOptions options;
  options.clock_ms = [&, test = std::this_thread::get_id()] {
    if (broken && std::this_thread::get_id() != test) throw std::runtime_error("the clock is broken");
    return 1.0;
  };
  const auto engine = make_engine(options);
  const auto guard = std::make_shared<int>();
  std::vector<Ticket> tickets;
  for (int i = 0; i < 4; ++i) {
    Request request = greedy(i, 5, 1000);
    request.guard = guard;
    tickets.push_back(engine->submit(std::move(request)));
  }
  broken = true;
  for (Ticket& ticket : tickets) {
    std::optional<Finish> finish;
    while (auto event = ticket.next()) finish = event->finish;
    ASSERT_TRUE(finish);
    EXPECT_EQ(finish->reason, Finish::Reason::failed);
    EXPECT_EQ(finish->error->message(), "the clock is broken");
  }
  EXPECT_EQ(guard.use_count(), 1) << "a dead turn still holds what its request held";
  EXPECT_NE(engine->stats().failure.find("the clock is broken"), std::string::npos);
  EXPECT_THROW(engine->submit(greedy(1, 5, 5)), Error);
  EXPECT_THROW(engine->create_context(), Error);
}

TEST(EngineThreads, StoppingTheEngineEndsEveryAnswer) {
  auto engine = make_engine({.output_buffer = 100000});
  std::vector<Ticket> tickets;
  for (int i = 0; i < 30; ++i) tickets.push_back(engine->submit(greedy(i, 5, 3000)));
  engine.reset();
  for (Ticket& ticket : tickets) {
    std::optional<Event> last;
    while (auto event = ticket.next()) last = std::move(event);
    ASSERT_TRUE(last && last->finish);
    EXPECT_EQ(last->finish->reason, Finish::Reason::cancelled);
  }
}

}  // namespace
}  // namespace genai
