#include "text/hf_tokenizer.h"

#include <fmt/core.h>

#include <algorithm>

#include "text/unicode.h"

namespace genai {

HfTokenizer::HfTokenizer(const JsonNode& root) {
  if (root.has("normalizer")) normalizer_ = Normalizer::parse(root.at("normalizer"));
  if (root.has("pre_tokenizer")) pre_tokenizer_ = PreTokenizer::parse(root.at("pre_tokenizer"));
  model_ = parse_model(root.at("model"), pre_tokenizer_.yields_bytes());
  if (root.has("added_tokens")) added_.parse(root.at("added_tokens"), model_->vocabulary(), normalizer_);
  if (root.has("post_processor")) post_processor_ = PostProcessor::parse(root.at("post_processor"));
  if (root.has("decoder")) decoder_ = Decoder::parse(root.at("decoder"));
  for (const auto* ids : {&post_processor_.before, &post_processor_.after}) {
    for (const TokenId id : *ids) {
      if (id.value >= vocab_size()) {
        root.at("post_processor").fail(fmt::format("uses token id {}, expected less than {}", id.value, vocab_size()));
      }
    }
  }
}

std::vector<TokenId> HfTokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  if (const size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
    throw Error(Code::invalid_argument, fmt::format("text is not valid UTF-8 at byte {}", bad), "text to tokenize",
                "send the text as UTF-8");
  }
  std::vector<TokenId> out;
  out.reserve(text.size() / 3 + 8);
  if (options.special_tokens) out = post_processor_.before;
  added_.split(AddedTokens::Stage::raw, text, options.parse_special,
               [&](int32_t id, std::string_view piece, size_t begin) {
                 if (id >= 0) return out.push_back(TokenId(id));
                 encode_piece(piece, begin == 0, options, out);
               });
  if (options.special_tokens) out.insert(out.end(), post_processor_.after.begin(), post_processor_.after.end());
  return out;
}

void HfTokenizer::encode_piece(std::string_view piece, bool at_start, const EncodeOptions& options,
                               std::vector<TokenId>& out) const {
  std::string normalized;
  if (!normalizer_.empty()) {
    normalized = piece;
    normalizer_.apply(normalized);
    piece = normalized;
  }
  added_.split(AddedTokens::Stage::normalized, piece, options.parse_special,
               [&](int32_t id, std::string_view text, size_t begin) {
                 if (id >= 0) return out.push_back(TokenId(id));
                 pre_tokenizer_.run(text, at_start && begin == 0,
                                    [&](std::string_view word) { model_->tokenize(word, out); });
               });
}

std::string HfTokenizer::decode(std::span<const TokenId> ids, bool skip_special_tokens) const {
  std::string bytes, out;
  bool first = true;
  for (const TokenId id : ids) {
    if (skip_special_tokens && is_special(id)) continue;
    bytes += bytes_of(id, first);
    first = false;
  }
  if (append_lossy(out, bytes) > 0) out += "\xEF\xBF\xBD";
  return out;
}

int HfTokenizer::vocab_size() const { return std::max(model_->vocabulary().size(), added_.size()); }

std::optional<TokenId> HfTokenizer::id_of(std::string_view token) const {
  if (const AddedToken* added = added_.find(token)) return TokenId(added->id);
  const int32_t id = model_->vocabulary().find(token);
  return id >= 0 ? std::optional(TokenId(id)) : std::nullopt;
}

std::string_view HfTokenizer::text_of(TokenId id) const {
  if (id.value < 0 || id.value >= vocab_size()) {
    throw Error(Code::invalid_argument, fmt::format("token id is {}, expected 0 to {}", id.value, vocab_size() - 1));
  }
  const AddedToken* added = added_.find(id.value);
  return added ? added->content : model_->vocabulary().token(id.value);
}

std::string HfTokenizer::token(TokenId id) const { return std::string(text_of(id)); }

bool HfTokenizer::is_special(TokenId id) const {
  const AddedToken* added = added_.find(id.value);
  return added && added->special;
}

std::string HfTokenizer::bytes_of(TokenId id, bool first) const { return decoder_.bytes(text_of(id), first); }

}  // namespace genai
