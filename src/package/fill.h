// Small helpers of the sources: the first file that says something wins.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "package/config_node.h"
#include "package/model_spec.h"

namespace genai {

inline constexpr int64_t kMaxTokenId = INT32_MAX;

template <class T, class U>
void fill(std::optional<T>& slot, const std::optional<U>& found) {
  if (!slot && found) slot = static_cast<T>(*found);
}

inline void fill(int& slot, const std::optional<int64_t>& found) {
  if (slot == 0 && found) slot = static_cast<int>(*found);
}

inline void fill(std::string& slot, const std::optional<std::string>& found) {
  if (slot.empty() && found) slot = *found;
}

// Adds to a set of ids; negative ones mean "none" in some files.
inline void add_ids(std::vector<TokenId>& set, const std::vector<int64_t>& ids) {
  for (const int64_t id : ids) {
    if (id < 0 || id > kMaxTokenId) continue;
    const TokenId token(static_cast<int32_t>(id));
    if (std::find(set.begin(), set.end(), token) == set.end()) set.push_back(token);
  }
}

inline void fill_token(std::optional<TokenId>& slot, const std::vector<int64_t>& ids) {
  if (!slot && !ids.empty() && ids[0] >= 0 && ids[0] <= kMaxTokenId) slot = TokenId(static_cast<int32_t>(ids[0]));
}

// The keys that genai_config's search, generation_config.json and inference_metadata's defaults share.
inline void fill_generation(GenerationDefaults& defaults, const ConfigNode& node) {
  fill(defaults.do_sample, node.boolean("do_sample"));
  fill(defaults.temperature, node.number("temperature"));
  fill(defaults.top_p, node.number("top_p"));
  fill(defaults.min_p, node.number("min_p"));
  fill(defaults.repetition_penalty, node.number("repetition_penalty"));
  fill(defaults.top_k, node.integer("top_k", 0, INT32_MAX));
  fill(defaults.max_length, node.integer("max_length", 0, INT32_MAX));
}

}  // namespace genai
