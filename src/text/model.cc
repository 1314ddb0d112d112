#include "text/model.h"

#include "text/byte_level.h"

namespace genai {

namespace {
constexpr const char* kKinds = "BPE, Unigram, WordPiece, WordLevel";

// Gives a model that knows nothing of bytes the byte characters it expects.
class ByteChars : public Model {
 public:
  explicit ByteChars(std::unique_ptr<Model> model) : model_(std::move(model)) { vocabulary_ = model_->vocabulary(); }
  void tokenize(std::string_view word, std::vector<TokenId>& out) const override {
    model_->tokenize(bytes_to_chars(word), out);
  }

 private:
  std::unique_ptr<Model> model_;
};

std::unique_ptr<Model> parse_other(const JsonNode& node, std::string_view kind) {
  if (kind == "WordLevel") return parse_word_level(node);
  if (kind == "WordPiece") return parse_word_piece(node);
  if (kind == "Unigram") return parse_unigram(node);
  node.unknown_kind("model", kind, kKinds);
}
}  // namespace

std::unique_ptr<Model> parse_model(const JsonNode& node, bool words_are_bytes) {
  // Files of before 2020 leave the type out when it is BPE.
  const std::string_view kind = node.string("type", node.has("merges") ? "BPE" : "(none)");
  if (kind == "BPE") return parse_bpe(node, words_are_bytes);
  auto model = parse_other(node, kind);
  return words_are_bytes ? std::make_unique<ByteChars>(std::move(model)) : std::move(model);
}

Vocabulary parse_vocabulary(const JsonNode& node) {
  Vocabulary vocabulary;
  const auto entries = node.object();
  vocabulary.reserve(entries.size());
  for (const auto& [token, value] : entries) {
    int64_t id = 0;
    if (value.get(id) != simdjson::SUCCESS)
      node.fail("the id of '" + std::string(token.substr(0, 80)) + "' is not an integer");
    vocabulary.add(token, id, node.where());
  }
  return vocabulary;
}

}  // namespace genai
