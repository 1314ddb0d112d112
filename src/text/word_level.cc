// WordLevel: a word is one token, or unknown.
#include <fmt/core.h>

#include "text/model.h"

namespace genai {

namespace {
class WordLevel : public Model {
 public:
  explicit WordLevel(const JsonNode& node) {
    vocabulary_ = parse_vocabulary(node.at("vocab"));
    unknown_ = vocabulary_.find(node.string("unk_token", ""));
  }

  void tokenize(std::string_view word, std::vector<TokenId>& out) const override {
    const int32_t id = vocabulary_.find(word);
    if (id < 0 && unknown_ < 0) {
      throw Error(Code::invalid_argument,
                  fmt::format("the vocabulary has no token for '{}' and no unknown token", word));
    }
    out.push_back(TokenId(id >= 0 ? id : unknown_));
  }

 private:
  int32_t unknown_;
};
}  // namespace

std::unique_ptr<Model> parse_word_level(const JsonNode& node) { return std::make_unique<WordLevel>(node); }

}  // namespace genai
