// What `tokenizer.ggml.pre` means: how the text of a byte-level BPE is cut before merging.
//
// Source: the tokenizer.json files that the models' makers publish. Threads: constant data. Errors: none.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace genai {

struct BpePattern {
  std::span<const char* const> names;   // values of tokenizer.ggml.pre
  std::span<const char* const> splits;  // regexes applied one after the other, each match isolated
  bool single_digits;                   // every digit alone, before ByteLevel's own regex
  bool gpt2_regex;                      // ByteLevel applies the regex of GPT-2
  bool ignore_merges;                   // a word that is a token needs no merges
  bool nfc;                             // text is normalized first
  bool adds_bos;                        // when the file doesn't say
};

const BpePattern* find_bpe_pattern(std::string_view pre);
std::string known_bpe_patterns();  // "default, gpt-2, …", for errors

}  // namespace genai
