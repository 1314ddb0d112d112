#include "gen/engine.h"

#include "gen/engine_loop.h"

namespace genai {

Engine::Engine(std::unique_ptr<DecoderModel> model, std::shared_ptr<const Tokenizer> tokenizer, EngineOptions options)
    : loop_(std::make_unique<Loop>(std::move(model), std::move(tokenizer), std::move(options))) {}

Engine::~Engine() = default;

Ticket Engine::submit(Request request) { return loop_->submit(std::move(request)); }

ContextId Engine::create_context() {
  ContextId id;
  loop_->call([&] { id = loop_->create_context(); });
  return id;
}

ContextId Engine::fork(ContextId context, int64_t position) {
  ContextId id;
  loop_->call([&] { id = loop_->fork_context(context, position); });
  return id;
}

void Engine::rewind(ContextId context, int64_t position) {
  loop_->call([&] { loop_->rewind_context(context, position); });
}

void Engine::close(ContextId context) {
  loop_->call([&] { loop_->close_context(context); });
}

void Engine::close_later(ContextId context) {
  loop_->call_later([this, context] { loop_->close_context(context); });
}

std::vector<TokenId> Engine::tokens(ContextId context) {
  std::vector<TokenId> tokens;
  loop_->call([&] { tokens = loop_->context(context).tokens; });
  return tokens;
}

ContextImage Engine::save(ContextId context) {
  ContextImage image;
  loop_->call([&] { image = loop_->save_context(context); });
  return image;
}

ContextId Engine::restore(const ContextImage& image) {
  ContextId id;
  loop_->call([&] { id = loop_->restore_context(image); });
  return id;
}

EngineStats Engine::stats() const { return loop_->stats(); }
int Engine::context_length() const { return loop_->model().context_length(); }
int Engine::vocab_size() const { return loop_->vocab_size(); }
bool Engine::step() { return loop_->step(); }

}  // namespace genai
