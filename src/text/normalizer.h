// The "normalizer" of tokenizer.json: rewrites text before it is cut into words.
//
// Threads: immutable. Errors: parse throws Error{unsupported} naming a kind it does not know. Text is valid UTF-8.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "text/json_node.h"

namespace genai {

class Normalizer {
 public:
  Normalizer() = default;  // changes nothing
  static Normalizer parse(const JsonNode& node);
  bool empty() const { return steps_.empty(); }
  void apply(std::string& text) const;

 private:
  using Step = std::function<void(std::string&)>;
  void append(const JsonNode& node);
  std::vector<Step> steps_;
};

enum class UnicodeForm { nfc, nfd, nfkc, nfkd };
void normalize_unicode(std::string& text, UnicodeForm form);

// BertNormalizer: control characters, blanks, ideographs set apart, accents, case.
struct BertNormalizer {
  bool clean_text, chinese_chars, strip_accents, lowercase;
  void operator()(std::string& text) const;
};

}  // namespace genai
