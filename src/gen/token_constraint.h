// Which tokens may come next. Implemented over src/constrain; the sampler applies it after the penalties.
//
// Threads: one. Errors: none; a constraint that allows no token ends the sequence as failed.
#pragma once

#include <memory>
#include <span>

#include "gen/ids.h"

namespace genai {

class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  // Bit t of the mask: token t may come next (end-of-text tokens included). Valid until accept(). Empty: all may.
  virtual std::span<const uint64_t> allowed() = 0;
  virtual void accept(TokenId token) = 0;
  virtual std::unique_ptr<TokenConstraint> fresh() const = 0;  // at its start, for another choice of the same request
};

}  // namespace genai
