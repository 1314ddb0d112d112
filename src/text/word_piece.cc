// WordPiece: the longest token that fits, again and again; a word that can't be covered is unknown as a whole.
#include <fmt/core.h>

#include <algorithm>

#include "text/model.h"
#include "text/unicode.h"

namespace genai {

namespace {
class WordPiece : public Model {
 public:
  explicit WordPiece(const JsonNode& node) {
    vocabulary_ = parse_vocabulary(node.at("vocab"));
    prefix_ = node.string("continuing_subword_prefix", "##");
    max_chars_ = node.integer("max_input_chars_per_word", 100);
    unknown_ = vocabulary_.find(node.string("unk_token", "[UNK]"));
  }

  void tokenize(std::string_view word, std::vector<TokenId>& out) const override {
    const size_t before = out.size();
    const bool fits = static_cast<int64_t>(count_chars(word)) <= max_chars_;
    if (fits && cover(word, out)) return;
    if (unknown_ < 0) {
      throw Error(Code::invalid_argument,
                  fmt::format("the vocabulary has no tokens for '{}' and no unknown token", word.substr(0, 80)));
    }
    out.resize(before);
    out.push_back(TokenId(unknown_));
  }

 private:
  bool cover(std::string_view word, std::vector<TokenId>& out) const {
    std::string candidate;
    for (size_t begin = 0; begin < word.size();) {
      const size_t prefix = begin > 0 ? prefix_.size() : 0;
      candidate.assign(prefix_, 0, prefix);
      candidate.append(word, begin, vocabulary_.longest());  // nothing longer can be a token
      while (candidate.size() > prefix && !is_token(candidate))
        candidate.resize(candidate.size() - last_char_length(candidate));
      if (candidate.size() <= prefix) return false;
      out.push_back(TokenId(vocabulary_.find(candidate)));
      begin += candidate.size() - prefix;
    }
    return true;
  }

  bool is_token(std::string_view text) const { return vocabulary_.find(text) >= 0; }

  std::string prefix_;
  int64_t max_chars_;
  int32_t unknown_;
};
}  // namespace

std::unique_ptr<Model> parse_word_piece(const JsonNode& node) { return std::make_unique<WordPiece>(node); }

}  // namespace genai
