// The "decoder" of tokenizer.json: what bytes a token adds to the text.
//
//   Decoder d = Decoder::parse(node);  text += d.bytes("▁Hello", true);
//
// Every supported decoder works token by token; a chain that needs to see the tokens behind is refused at parse.
// Threads: immutable. Errors: parse throws Error{unsupported} naming kind and reason.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json_node.h"

namespace genai {

class Decoder {
 public:
  Decoder() = default;  // tokens with a space between them
  static Decoder parse(const JsonNode& node);
  std::string bytes(std::string_view token, bool first) const;  // first: no token stands before it

 private:
  using Step = std::function<void(std::string& token, bool first)>;
  void append(const JsonNode& node);
  void append_strip(const JsonNode& node);

  std::vector<Step> steps_;
  bool joined_ = false;  // a step made one text of the tokens: later ones see that text
  bool space_between_ = true;
};

}  // namespace genai
