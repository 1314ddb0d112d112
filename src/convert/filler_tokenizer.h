// A byte-level tokenizer for models without one: id 0 ends a text, the next 256 ids are the bytes, the rest are fillers
// that text never becomes but a model may say.
//
// Threads: pure function. Errors: Error{invalid_argument} for fewer than 257 ids.
#pragma once

#include <cstdint>

#include "convert/gguf_tokenizer.h"

namespace genai {

GgufTokenizer make_filler_tokenizer(int64_t vocab_size);

}  // namespace genai
