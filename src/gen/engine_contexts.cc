// Conversations the engine keeps between requests: each a parked sequence.
#include <fmt/format.h>

#include "gen/engine_loop.h"

namespace genai {
namespace {
void check_position(int64_t position, int64_t tokens) {
  if (position >= 0 && position <= tokens) return;
  throw Error(Code::invalid_argument,
              fmt::format("position is {}, expected 0 to {}, the context's tokens", position, tokens), "position");
}

// Checksums are the file's; this is about an image that was never made by this model.
void check_image(const ContextImage& image, int64_t block_bytes, int vocab_size, int context_length) {
  const auto corrupt = [](const std::string& what) { throw Error(Code::corrupt, what, "context image"); };
  const int64_t tokens = static_cast<int64_t>(image.tokens.size());
  if (tokens > context_length) corrupt(fmt::format("{} tokens, the model's context has {}", tokens, context_length));
  if (image.block_bytes != block_bytes) {
    corrupt(fmt::format("blocks of {} bytes, this model's have {}", image.block_bytes, block_bytes));
  }
  if (image.computed < 0 || image.computed > tokens) {
    corrupt(fmt::format("{} tokens in the cache, expected 0 to {}", image.computed, tokens));
  }
  const int64_t bytes = block_bytes == 0 ? 0 : blocks_for(image.computed) * block_bytes;
  if (static_cast<int64_t>(image.kv.size()) != bytes) {
    corrupt(fmt::format("{} bytes of keys and values, expected {}", image.kv.size(), bytes));
  }
  for (const TokenId token : image.tokens) {
    if (token.value < 0 || token.value >= vocab_size)
      corrupt(fmt::format("token {} isn't in the vocabulary", token.value));
  }
}
}  // namespace

void Engine::Loop::note_length(ContextId id, int64_t tokens) {
  const std::lock_guard lock(mutex_);
  context_lengths_[id] = tokens;
}

ContextId Engine::Loop::create_context() {
  const ContextId id(next_id_);
  auto sequence = std::make_unique<Sequence>();
  sequence->id = SequenceId(next_id_++);
  contexts_.emplace(id, std::move(sequence));
  note_length(id, 0);
  return id;
}

Sequence& Engine::Loop::context(ContextId id) {
  const auto it = contexts_.find(id);
  if (it == contexts_.end()) throw Error(Code::not_found, fmt::format("context {} doesn't exist", id.value), "context");
  return *it->second;
}

ContextId Engine::Loop::fork_context(ContextId from, int64_t position) {
  const Sequence& source = context(from);
  check_position(position, source.length());
  const ContextId id = create_context();
  Sequence& copy = context(id);
  copy.tokens.assign(source.tokens.begin(), source.tokens.begin() + position);
  cache_.fork(source, copy, position);
  cache_.park(copy);
  note_length(id, position);
  return id;
}

void Engine::Loop::rewind_context(ContextId id, int64_t position) {
  Sequence& sequence = context(id);
  check_position(position, sequence.length());
  cache_.rewind(sequence, position);
  note_length(id, position);
}

void Engine::Loop::close_context(ContextId id) {
  Sequence& sequence = context(id);
  cache_.unpark(sequence);
  cache_.release(sequence);
  contexts_.erase(id);
  const std::lock_guard lock(mutex_);
  context_lengths_.erase(id);
}

ContextImage Engine::Loop::save_context(ContextId id) {
  const Sequence& sequence = context(id);
  return {.tokens = sequence.tokens,
          .computed = cache_.paged() ? sequence.computed : 0,
          .block_bytes = cache_.stats().block_bytes,
          .kv = cache_.save(sequence)};
}

ContextId Engine::Loop::restore_context(const ContextImage& image) {
  check_image(image, cache_.stats().block_bytes, vocab_size_, model_->context_length());
  const ContextId id = create_context();
  Sequence& sequence = context(id);
  sequence.tokens = image.tokens;
  // Without room in the pool the tokens alone come back; the next turn computes them again.
  if (cache_.restore(sequence, image.kv, image.computed)) cache_.park(sequence);
  note_length(id, sequence.length());
  return id;
}

}  // namespace genai
