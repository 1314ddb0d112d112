#include "text/post_processor.h"

#include <fmt/core.h>

#include "text/vocabulary.h"

namespace genai {

namespace {
constexpr const char* kKinds = "ByteLevel, TemplateProcessing, BertProcessing, RobertaProcessing, Sequence";

TokenId token_id(const JsonNode& node) {
  const int64_t id = node.integer();
  if (id < 0 || id > Vocabulary::kMaxId) {
    node.fail(fmt::format("token id is {}, expected 0 to {}", id, int64_t{Vocabulary::kMaxId}));
  }
  return TokenId(static_cast<int32_t>(id));
}

TokenId pair_id(const JsonNode& node) {  // ["[CLS]", 101]
  const auto pair = node.array();
  if (pair.size() != 2) node.fail(fmt::format("has {} parts, expected a token and its id", pair.size()));
  return token_id(node.item(pair.at(1), 1));
}
}  // namespace

PostProcessor PostProcessor::parse(const JsonNode& node) {
  PostProcessor post;
  post.wrap(node);
  return post;
}

void PostProcessor::wrap(const JsonNode& node) {
  const std::string_view kind = node.string("type");
  if (kind == "Sequence") {
    size_t i = 0;
    const JsonNode list = node.at("processors");
    for (const auto item : list.array()) wrap(list.item(item, i++));
  } else if (kind == "TemplateProcessing") {
    wrap_template(node);
  } else if (kind == "BertProcessing" || kind == "RobertaProcessing") {
    wrap_pair(node, "cls", "sep");
  } else if (kind != "ByteLevel") {  // which only moves offsets
    node.unknown_kind("post_processor", kind, kKinds);
  }
}

void PostProcessor::wrap_template(const JsonNode& node) {
  const JsonNode pieces = node.at("single");
  std::vector<TokenId> left, right;
  int texts = 0;
  size_t i = 0;
  for (const auto item : pieces.array()) {
    const JsonNode piece = pieces.item(item, i++);
    if (piece.has("Sequence")) {
      ++texts;
      continue;
    }
    const JsonNode special = node.at("special_tokens").at(piece.at("SpecialToken").string("id"));
    size_t k = 0;
    const JsonNode ids = special.at("ids");
    for (const auto id : ids.array()) (texts ? right : left).push_back(token_id(ids.item(id, k++)));
  }
  if (texts != 1) pieces.fail(fmt::format("the template holds the text {} times, expected once", texts));
  before.insert(before.begin(), left.begin(), left.end());
  after.insert(after.end(), right.begin(), right.end());
}

void PostProcessor::wrap_pair(const JsonNode& node, const char* first, const char* last) {
  before.insert(before.begin(), pair_id(node.at(first)));
  after.push_back(pair_id(node.at(last)));
}

}  // namespace genai
