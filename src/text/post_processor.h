// The "post_processor" of tokenizer.json, for one text: which special tokens stand before and behind it.
//
// Threads: a value. Errors: parse throws Error{unsupported} naming a kind it does not know.
#pragma once

#include <vector>

#include "text/json_node.h"
#include "text/tokenizer.h"

namespace genai {

struct PostProcessor {
  std::vector<TokenId> before, after;
  static PostProcessor parse(const JsonNode& node);

 private:
  void wrap(const JsonNode& node);
  void wrap_template(const JsonNode& node);
  void wrap_pair(const JsonNode& node, const char* first, const char* last);
};

}  // namespace genai
