// Texts → vectors, by an encoder model.
//
// Threads: embed() from any thread, one at a time inside. Errors: Error{invalid_argument} for an input too long.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "text/tokenizer.h"

namespace genai::serve {

class Embedder {
 public:
  virtual ~Embedder() = default;
  virtual int context_length() const = 0;
  virtual std::vector<TokenId> tokens_of(std::string_view text) const = 0;
  virtual std::vector<float> embed(std::span<const TokenId> tokens) = 0;  // normalised when the package says so
};

}  // namespace genai::serve
