// The "pre_tokenizer" of tokenizer.json: cuts normalized text into the words that the model merges one by one.
//
//   pre.run(text, true, [&](std::string_view word) { … });
//
// Threads: immutable. Errors: parse throws Error{unsupported} naming a kind it does not know.
// Memory:  words are views of the text or of scratch space; valid during the call only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/json_node.h"

namespace genai {

class PreTokenizer {
 public:
  using Word = std::function<void(std::string_view word)>;
  // A piece of text; `at_start`: it begins where the user's text begins.
  using Next = std::function<void(std::string_view piece, bool at_start)>;
  using Step = std::function<void(std::string_view piece, bool at_start, const Next& next)>;

  PreTokenizer() = default;  // the whole text is one word
  static PreTokenizer parse(const JsonNode& node);

  void run(std::string_view text, bool at_start, const Word& word) const;
  // Words are raw bytes that the model still has to write as byte characters (a ByteLevel step is the last one).
  bool yields_bytes() const { return yields_bytes_; }

 private:
  void append(const JsonNode& node);
  void append_byte_level(const JsonNode& node);
  void run_from(size_t step, std::string_view piece, bool at_start, const Word& word) const;

  std::vector<Step> steps_;
  bool yields_bytes_ = false;
};

// What becomes of the separators that cut a text.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
Behavior parse_behavior(const JsonNode& node);

}  // namespace genai
