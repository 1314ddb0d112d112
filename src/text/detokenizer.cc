#include "text/detokenizer.h"

#include "text/unicode.h"

namespace genai {

Detokenizer::Detokenizer(std::shared_ptr<const Tokenizer> tokenizer, bool skip_special_tokens)
    : tokenizer_(std::move(tokenizer)), skip_special_tokens_(skip_special_tokens) {}

std::string Detokenizer::push(TokenId id) {
  pending_ += skip_special_tokens_ && tokenizer_->is_special(id) ? std::string() : next_bytes(id);
  std::string out;
  const size_t open = append_lossy(out, pending_);
  pending_.erase(0, pending_.size() - open);
  return out;
}

std::string Detokenizer::next_bytes(TokenId id) {
  const bool first = first_;
  first_ = false;
  return tokenizer_->bytes_of(id, first);
}

std::string Detokenizer::finish() {
  std::string out;
  if (!pending_.empty()) out = "\xEF\xBF\xBD";  // a character that never arrived in full
  pending_.clear();
  return out;
}

}  // namespace genai
