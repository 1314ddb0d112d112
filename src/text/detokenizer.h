// Token ids, one at a time → text. Concatenated pieces equal the decode of the whole; a character still arriving is
// held back; invalid bytes become U+FFFD once, as Hugging Face's decode does, never an exception.
//
//   Detokenizer d(tokenizer, true);  out += d.push(id);  …  out += d.finish();
//
// Threads: one. Errors: an id outside the vocabulary throws Error{invalid_argument}.
#pragma once

#include <memory>
#include <string>

#include "text/tokenizer.h"

namespace genai {

class Detokenizer {
 public:
  Detokenizer(std::shared_ptr<const Tokenizer> tokenizer, bool skip_special_tokens);
  std::string push(TokenId id);
  std::string finish();  // what was held back

 private:
  std::string next_bytes(TokenId id);
  std::shared_ptr<const Tokenizer> tokenizer_;
  bool skip_special_tokens_;
  bool first_ = true;
  std::string pending_;  // an incomplete UTF-8 sequence
};

}  // namespace genai
