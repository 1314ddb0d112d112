#include "convert/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/error.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;

namespace {

using Json = nlohmann::ordered_json;
using IdsByToken = std::unordered_map<std::string_view, int64_t>;

IdsByToken index_tokens(const Vocabulary& vocabulary, const std::string& where) {
  IdsByToken ids;
  ids.reserve(vocabulary.tokens.size());
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    if (ids.emplace(vocabulary.tokens[i], static_cast<int64_t>(i)).second) continue;
    throw Error(Code::corrupt, fmt::format("token {} repeats token {}", i, ids[vocabulary.tokens[i]]), where);
  }
  return ids;
}

Json added_tokens(const Vocabulary& vocabulary) {
  Json all = Json::array();
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const TokenKind kind = vocabulary.kinds[i];
    const bool special = kind == TokenKind::control || kind == TokenKind::unknown;
    if (!special && kind != TokenKind::user_defined) continue;
    all.push_back({{"id", i},
                   {"content", vocabulary.tokens[i]},
                   {"single_word", false},
                   {"lstrip", false},
                   {"rstrip", false},
                   {"normalized", false},
                   {"special", special}});
  }
  return all;
}

Json token_map(const Vocabulary& vocabulary) {
  Json::object_t map;  // a vector of pairs: appending is linear, operator[] would search
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    map.Container::emplace_back(std::string(vocabulary.tokens[i]), i);
  }
  return map;
}

// "<s> text </s>" as far as the settings ask for it; null when nothing is added.
Json post_processor(const Vocabulary& vocabulary, const TokenizerSettings& settings) {
  const bool bos = settings.adds_bos && settings.bos, eos = settings.adds_eos && settings.eos;
  if (!bos && !eos) return nullptr;
  Json specials = Json::object();
  const auto special = [&](int64_t id, int type) {
    const std::string token(vocabulary.tokens[static_cast<size_t>(id)]);
    specials[token] = {{"id", token}, {"ids", {id}}, {"tokens", {token}}};
    return Json{{"SpecialToken", {{"id", token}, {"type_id", type}}}};
  };
  const auto wrapped = [&](const char* sequence, int type, Json& out) {
    if (bos) out.push_back(special(*settings.bos, type));
    out.push_back({{"Sequence", {{"id", sequence}, {"type_id", type}}}});
    if (eos) out.push_back(special(*settings.eos, type));
  };
  Json single = Json::array(), pair = Json::array();
  wrapped("A", 0, single);
  wrapped("A", 0, pair);
  wrapped("B", 1, pair);
  return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", specials}};
}

Json byte_level(bool use_regex) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", use_regex}};
}

Json sequence(const char* key, Json parts) { return {{"type", "Sequence"}, {key, std::move(parts)}}; }

Json pre_tokenizer(const BpePattern& pattern) {
  Json parts = Json::array();
  for (const char* regex : pattern.splits) {
    parts.push_back({{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}});
  }
  if (pattern.single_digits) parts.push_back({{"type", "Digits"}, {"individual_digits", true}});
  parts.push_back(byte_level(pattern.gpt2_regex));
  return parts.size() == 1 ? parts[0] : sequence("pretokenizers", parts);
}

Json replace(const char* from, const char* to) {
  return {{"type", "Replace"}, {"pattern", {{"String", from}}}, {"content", to}};
}

Json bpe_model(const Vocabulary& vocabulary, Json merges) {
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", false},
          {"vocab", token_map(vocabulary)},
          {"merges", std::move(merges)}};
}

// "left right": the first space after the first byte parts them; both and their union must be tokens.
Json checked_merges(const Vocabulary& vocabulary, const IdsByToken& ids, const std::string& where) {
  Json merges = Json::array();
  for (size_t i = 0; i < vocabulary.merges.size(); ++i) {
    const std::string_view merge = vocabulary.merges[i];
    const size_t space = merge.find(' ', 1);
    const bool parted = space != std::string_view::npos;
    const std::string_view left = merge.substr(0, parted ? space : 0), right = merge.substr(parted ? space + 1 : 0);
    if (!parted || !ids.contains(left) || !ids.contains(right) ||
        !ids.contains(std::string(left) + std::string(right))) {
      throw Error(Code::corrupt, fmt::format("merge {} does not join two tokens to a third", i), where);
    }
    merges.push_back(std::string(merge));
  }
  return merges;
}

struct Merge {
  int64_t whole, left, right;
};

// Every way to make a token out of two others, best scores first.
std::vector<Merge> merges_by_score(const Vocabulary& vocabulary, const IdsByToken& ids) {
  std::vector<Merge> merges;
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const std::string_view token = vocabulary.tokens[i];
    if (vocabulary.kinds[i] != TokenKind::normal || token.size() > 512) continue;
    const size_t first = merges.size();
    for (size_t cut = 1; cut < token.size(); ++cut) {
      if ((static_cast<unsigned char>(token[cut]) & 0xc0) == 0x80) continue;  // inside a character
      const auto left = ids.find(token.substr(0, cut)), right = ids.find(token.substr(cut));
      if (left == ids.end() || right == ids.end()) continue;
      merges.push_back({static_cast<int64_t>(i), left->second, right->second});
    }
    std::sort(merges.begin() + static_cast<std::ptrdiff_t>(first), merges.end(),
              [](const Merge& a, const Merge& b) { return std::pair(a.left, a.right) < std::pair(b.left, b.right); });
  }
  const auto score = [&](const Merge& merge) { return vocabulary.scores[static_cast<size_t>(merge.whole)]; };
  std::stable_sort(merges.begin(), merges.end(), [&](const Merge& a, const Merge& b) { return score(a) > score(b); });
  return merges;
}

std::string finish(const Json& root, const std::string& where) {
  // The library would throw on text that is not UTF-8; replaced characters show the same thing without that.
  std::string text = root.dump(1, ' ', false, Json::error_handler_t::replace);
  if (text.find("\ufffd") != std::string::npos) {
    const bool own = root["model"]["vocab"].contains("\ufffd");  // a token of its own in some vocabularies
    if (!own) throw Error(Code::corrupt, "a token is not valid UTF-8", where);
  }
  return text;
}

Json skeleton(const Vocabulary& vocabulary) {
  return {
      {"version", "1.0"}, {"truncation", nullptr}, {"padding", nullptr}, {"added_tokens", added_tokens(vocabulary)}};
}

}  // namespace

std::string byte_level_tokenizer_json(const Vocabulary& vocabulary, const TokenizerSettings& settings) {
  const IdsByToken ids = index_tokens(vocabulary, settings.where);
  Json root = skeleton(vocabulary);
  root["normalizer"] = settings.pattern->nfc ? Json{{"type", "NFC"}} : Json(nullptr);
  root["pre_tokenizer"] = pre_tokenizer(*settings.pattern);
  root["post_processor"] = post_processor(vocabulary, settings);
  root["decoder"] = byte_level(true);
  root["model"] = bpe_model(vocabulary, checked_merges(vocabulary, ids, settings.where));
  root["model"]["ignore_merges"] = settings.pattern->ignore_merges;
  return finish(root, settings.where);
}

std::string sentencepiece_tokenizer_json(const Vocabulary& vocabulary, const TokenizerSettings& settings) {
  if (vocabulary.scores.empty()) throw Error(Code::corrupt, "the tokens have no scores", settings.where);
  const IdsByToken ids = index_tokens(vocabulary, settings.where);
  Json merges = Json::array();
  for (const Merge& merge : merges_by_score(vocabulary, ids)) {
    merges.push_back(
        {vocabulary.tokens[static_cast<size_t>(merge.left)], vocabulary.tokens[static_cast<size_t>(merge.right)]});
  }
  Json normalizers = Json::array();
  if (settings.adds_space_prefix) normalizers.push_back({{"type", "Prepend"}, {"prepend", "▁"}});
  normalizers.push_back(replace(" ", "▁"));
  Json decoders = {replace("▁", " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}};
  if (settings.adds_space_prefix) {
    decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  Json root = skeleton(vocabulary);
  root["normalizer"] = sequence("normalizers", normalizers);
  root["pre_tokenizer"] = nullptr;
  root["post_processor"] = post_processor(vocabulary, settings);
  root["decoder"] = sequence("decoders", decoders);
  root["model"] = bpe_model(vocabulary, merges);
  root["model"]["byte_fallback"] = true;
  root["model"]["fuse_unk"] = true;
  if (settings.unknown) root["model"]["unk_token"] = vocabulary.tokens[static_cast<size_t>(*settings.unknown)];
  return finish(root, settings.where);
}

}  // namespace genai
