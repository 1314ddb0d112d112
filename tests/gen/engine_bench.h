// An engine over the fake model, stepped by hand with a clock of its own.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "gen/engine.h"
#include "support/fake_model.h"
#include "support/fake_tokenizer.h"

namespace genai {

struct EngineBench {
  static constexpr int kVocab = 55;

  explicit EngineBench(EngineOptions options = {}, FakeModel::Options facts = {.vocab_size = kVocab},
                       int64_t blocks = 400) {
    auto owned = std::make_unique<FakeModel>(facts);
    model = owned.get();
    options.manual = true;
    options.clock_ms = [this] { return clock; };
    if (facts.paged) options.kv_bytes = blocks * model->kv_layout().block_bytes;
    engine = std::make_unique<Engine>(std::move(owned), std::make_shared<FakeTokenizer>(facts.vocab_size), options);
  }

  static std::vector<TokenId> prompt(int seed, int length) {
    std::vector<TokenId> tokens;
    for (int i = 0; i < length; ++i) tokens.emplace_back((seed * 31 + i * i + 7) % kVocab);
    return tokens;
  }
  static Request greedy(std::vector<TokenId> prompt, int max_tokens) {
    return {.prompt = std::move(prompt), .max_tokens = max_tokens, .sampling = {.temperature = 0}};
  }
  static std::vector<TokenId> expected(const std::vector<TokenId>& prompt, int count) {
    return FakeModel::greedy_answer(prompt, count, kVocab);
  }
  static std::string text_of(const std::vector<TokenId>& tokens) { return FakeTokenizer(kVocab).decode(tokens, true); }

  // Reads what is there; steps until the answer has ended.
  std::vector<Event> finish(Ticket& ticket) {
    std::vector<Event> events;
    for (int idle = 0; !ticket.done();) {
      while (auto event = ticket.try_next()) events.push_back(std::move(*event));
      idle = engine->step() ? 0 : idle + 1;
      if (idle > 3 && !ticket.done()) {
        ADD_FAILURE() << "the engine is idle and the answer hasn't ended";
        break;
      }
    }
    return events;
  }
  std::vector<Event> run(Request request) {
    Ticket ticket = engine->submit(std::move(request));
    return finish(ticket);
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) engine->step();
  }
  int64_t held() const {
    engine->step();
    return engine->stats().kv.used - engine->stats().kv.cached;
  }

  double clock = 0;
  FakeModel* model = nullptr;
  std::unique_ptr<Engine> engine;
};

inline std::vector<TokenId> tokens_of(const std::vector<Event>& events) {
  std::vector<TokenId> tokens;
  for (const Event& e : events) {
    if (e.token.valid()) tokens.push_back(e.token);
  }
  return tokens;
}

inline std::string text_of(const std::vector<Event>& events) {
  std::string text;
  for (const Event& e : events) text += e.text;
  return text;
}

inline Finish::Reason reason_of(const std::vector<Event>& events) {
  if (events.empty() || !events.back().finish) {
    ADD_FAILURE() << "no terminal event";
    return Finish::Reason::failed;
  }
  return events.back().finish->reason;
}

}  // namespace genai
