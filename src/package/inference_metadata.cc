#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "package/fill.h"
#include "package/sources.h"

namespace genai {
namespace {

constexpr const char* kCapabilities[] = {"kv_cache",     "grouped_query_attention", "multi_head_attention",
                                         "prefix_cache", "continuous_batching",     "control_flow_loop"};

void refuse_unknown_capabilities(const ConfigNode& root) {
  for (const ConfigNode& item : root.value("required_capabilities").items()) {
    const std::string name = item.own_text();
    if (std::find(std::begin(kCapabilities), std::end(kCapabilities), name) != std::end(kCapabilities)) continue;
    throw Error(Code::unsupported,
                fmt::format("the model requires the capability '{}', which this program has not", name), item.where(),
                "use a model that requires only: " + fmt::format("{}", fmt::join(kCapabilities, ", ")));
  }
  const ConfigNode workflow = root["pipeline"].value("workflow");
  if (!workflow.present()) return;
  throw Error(Code::unsupported, "the model is a workflow of several parts, expected one decoder", workflow.where(),
              "use a text-only export of the model");
}

// {"past.0.key", "past.1.key"} → "past.%d.key": the number that is each name's index. Empty when there is none.
std::string pattern_of(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const std::string& first = names[0];
  for (size_t at = first.find('0'); at != std::string::npos; at = first.find('0', at + 1)) {
    const std::string before = first.substr(0, at), after = first.substr(at + 1);
    const bool alone = (before.empty() || !std::isdigit(static_cast<unsigned char>(before.back()))) &&
                       (after.empty() || !std::isdigit(static_cast<unsigned char>(after[0])));
    size_t agreed = 0;
    while (agreed < names.size() && names[agreed] == fmt::format("{}{}{}", before, agreed, after)) ++agreed;
    if (alone && agreed == names.size()) return before + "%d" + after;
  }
  return {};
}

// Lists of KV names go key, value, key, value, …
void fill_kv(const std::vector<std::string>& names, std::string& key, std::string& value) {
  std::vector<std::string> keys, values;
  for (size_t i = 0; i < names.size(); ++i) (i % 2 == 0 ? keys : values).push_back(names[i]);
  fill(key, std::optional(pattern_of(keys)));
  fill(value, std::optional(pattern_of(values)));
}

void fill_roles(const ConfigNode& io, DecoderRoles& roles) {
  fill(roles.input_ids, io.text("token_input"));
  fill(roles.attention_mask, io.text("attention_mask_input"));
  fill(roles.position_ids, io.text("position_ids_input"));
  fill(roles.logits, io.text("logits_output"));
  fill_kv(io.texts("kv_inputs"), roles.past_key, roles.past_value);
  fill_kv(io.texts("kv_outputs"), roles.present_key, roles.present_value);
}

}  // namespace

void apply_inference_metadata(const ConfigNode& root, ModelSpec& spec) {
  const std::optional<std::string> version = root.text("schema_version");
  if (version && *version != "v1") root.value("schema_version").fail("\"v1\"");
  refuse_unknown_capabilities(root);
  const ConfigNode model = root["model"];
  fill(spec.context_length, model.integer("max_sequence_length", 1, INT32_MAX));
  fill(spec.vocab_size, model.integer("vocab_size", 1, INT32_MAX));
  fill_roles(model["io"], spec.roles);
  fill_generation(spec.generation, root["generation"]["defaults"]);
}

}  // namespace genai
