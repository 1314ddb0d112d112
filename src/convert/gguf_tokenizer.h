// The tokenizer inside a GGUF file → the text of a tokenizer.json that gives the same ids.
//
// Byte-level BPE ("gpt2" with a known `tokenizer.ggml.pre`) and SentencePiece BPE ("llama": the merges are rebuilt from
// the scores; characters outside the vocabulary fall back to bytes). A tokenizer.json kept whole in the file wins.
// Threads: pure functions. Errors: Error{unsupported | corrupt} naming the key. Source: the GGUF specification; the
// `tokenizers` file format.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "convert/gguf_file.h"

namespace genai {

struct GgufTokenizer {
  std::string tokenizer_json;
  int vocab_size = 0;
  std::optional<int64_t> bos, eos, pad, unknown;
  std::vector<int64_t> end_ids;  // eos, then end-of-turn and end-of-message when the file names them
  std::string bos_token, eos_token, pad_token, unknown_token;  // texts; empty when there is none
  std::map<std::string, std::string> chat_templates;           // "default" and named ones
};

GgufTokenizer read_gguf_tokenizer(const GgufFile& file);

}  // namespace genai
