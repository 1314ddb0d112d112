// DRY ("don't repeat yourself"): penalises the token that would extend a repetition of the text's end.
//
// For every earlier position whose preceding `length` tokens equal the last `length` tokens, the token at that position
// loses multiplier · base^(length − allowed_length) if length >= allowed_length; of several the longest counts.
#pragma once

#include <span>

#include "gen/sampling_options.h"

namespace genai {

void apply_dry(const DryOptions& options, std::span<const TokenId> tokens, std::span<float> logits);

}  // namespace genai
