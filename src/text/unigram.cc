// Unigram: the cut with the highest sum of scores (Viterbi over the characters of a word).
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "text/model.h"
#include "text/unicode.h"

namespace genai {

namespace {
constexpr double kUnknownPenalty = 10.0;

class Unigram : public Model {
 public:
  explicit Unigram(const JsonNode& node) {
    const JsonNode list = node.at("vocab");
    vocabulary_.reserve(list.array().size());
    for (const auto item : list.array()) {
      if (!add(item, list.where())) {
        list.item(item, scores_.size()).fail("entry is not a token and its score, expected [\"a\", -1.5]");
      }
    }
    if (node.has("unk_id")) unknown_ = node.integer("unk_id", -1);
    if (unknown_ >= static_cast<int64_t>(scores_.size())) {
      node.fail(fmt::format("unk_id is {}, expected an index into {} tokens", unknown_, scores_.size()));
    }
    byte_fallback_ = node.boolean("byte_fallback", false);
    std::sort(lengths_.begin(), lengths_.end());
    lengths_.erase(std::unique(lengths_.begin(), lengths_.end()), lengths_.end());
  }

  void tokenize(std::string_view word, std::vector<TokenId>& out) const override {
    const std::vector<Node> best = best_path(word);
    std::vector<std::string_view> pieces;
    bool in_unknown = false;  // neighbouring unknown pieces are one
    for (size_t end = word.size(); end > 0; end = best[end].begin) {
      const Node& node = best[end];
      const bool unknown = node.id == unknown_;
      if (unknown && in_unknown) {
        pieces.back() = word.substr(node.begin, pieces.back().data() + pieces.back().size() - word.data() - node.begin);
      } else {
        pieces.push_back(word.substr(node.begin, end - node.begin));
      }
      in_unknown = unknown;
    }
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) append(*piece, out);
  }

 private:
  struct Node {
    double score = 0;
    int64_t id = -1;
    size_t begin = std::string_view::npos;  // npos: nothing ends here yet
    void offer(double candidate, int64_t token, size_t from) {
      if (begin == std::string_view::npos || candidate > score) *this = {candidate, token, from};
    }
  };

  bool add(simdjson::dom::element entry, const std::string& where) {
    simdjson::dom::array pair;
    std::string_view token;
    double score = 0;
    if (entry.get(pair) != simdjson::SUCCESS || pair.size() != 2 || pair.at(0).get(token) != simdjson::SUCCESS ||
        pair.at(1).get(score) != simdjson::SUCCESS) {
      return false;
    }
    vocabulary_.add(token, static_cast<int64_t>(scores_.size()), where);
    scores_.push_back(score);
    lowest_ = std::min(lowest_, score);
    lengths_.push_back(token.size());
    return true;
  }

  // For every offset: the best token that ends there. [word.size() + 1]
  std::vector<Node> best_path(std::string_view word) const {
    std::vector<Node> best(word.size() + 1);
    for (size_t begin = 0; begin < word.size();) {
      const size_t one_char = utf8_length(static_cast<unsigned char>(word[begin]));
      const double here = best[begin].score;
      bool has_char = false;
      for (const size_t length : lengths_) {
        if (length == 0) continue;
        if (begin + length > word.size()) break;
        const int32_t id = vocabulary_.find(word.substr(begin, length));
        if (id < 0) continue;
        best[begin + length].offer(here + scores_[id], id, begin);
        has_char |= length == one_char;
      }
      if (!has_char) best[begin + one_char].offer(here + lowest_ - kUnknownPenalty, require_unknown(), begin);
      begin += one_char;
    }
    return best;
  }

  int64_t require_unknown() const {
    if (unknown_ < 0) throw Error(Code::invalid_argument, "a character has no token, and the model has no unk_id");
    return unknown_;
  }

  void append(std::string_view piece, std::vector<TokenId>& out) const {
    if (const int32_t id = vocabulary_.find(piece); id >= 0) return out.push_back(TokenId(id));
    if (byte_fallback_) {
      const size_t before = out.size();
      for (const char b : piece) {
        out.push_back(TokenId(vocabulary_.find(fmt::format("<0x{:02X}>", static_cast<unsigned char>(b)))));
      }
      if (std::find(out.begin() + before, out.end(), TokenId(-1)) == out.end()) return;
      out.resize(before);
    }
    out.push_back(TokenId(static_cast<int32_t>(require_unknown())));
  }

  std::vector<double> scores_;   // [id]
  std::vector<size_t> lengths_;  // bytes that some token has, ascending
  double lowest_ = std::numeric_limits<double>::infinity();
  int64_t unknown_ = -1;
  bool byte_fallback_ = false;
};
}  // namespace

std::unique_ptr<Model> parse_unigram(const JsonNode& node) { return std::make_unique<Unigram>(node); }

}  // namespace genai
