#include "convert/package_files.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "convert/data_file.h"

namespace genai {
namespace {

using Json = nlohmann::ordered_json;

Json optional_id(const std::optional<int64_t>& id) { return id ? Json(*id) : Json(nullptr); }

// One id as a number, several as a list: both forms are read everywhere.
Json end_ids(const GgufTokenizer& tokenizer) {
  if (tokenizer.end_ids.empty()) return nullptr;
  return tokenizer.end_ids.size() == 1 ? Json(tokenizer.end_ids[0]) : Json(tokenizer.end_ids);
}

std::optional<int64_t> padding(const GgufTokenizer& tokenizer) { return tokenizer.pad ? tokenizer.pad : tokenizer.eos; }

Json genai_decoder(const LlamaConfig& config) {
  return {
      {"session_options", {{"log_id", "onnxruntime-genai"}, {"provider_options", Json::array()}}},
      {"filename", "model.onnx"},
      {"head_size", config.head_size},
      {"hidden_size", config.hidden},
      {"inputs",
       {{"input_ids", "input_ids"},
        {"attention_mask", "attention_mask"},
        {"past_key_names", "past_key_values.%d.key"},
        {"past_value_names", "past_key_values.%d.value"}}},
      {"outputs",
       {{"logits", "logits"}, {"present_key_names", "present.%d.key"}, {"present_value_names", "present.%d.value"}}},
      {"num_attention_heads", config.heads},
      {"num_hidden_layers", config.layers},
      {"num_key_value_heads", config.kv_heads}};
}

Json genai_config(const LlamaConfig& config, const GgufTokenizer& tokenizer) {
  Json model = Json::object();
  if (tokenizer.bos) model["bos_token_id"] = *tokenizer.bos;
  model["context_length"] = config.context;
  model["decoder"] = genai_decoder(config);
  if (!tokenizer.end_ids.empty()) model["eos_token_id"] = end_ids(tokenizer);
  if (padding(tokenizer)) model["pad_token_id"] = *padding(tokenizer);
  model["type"] = config.architecture;
  model["vocab_size"] = config.vocab;
  const Json search = {{"diversity_penalty", 0.0},
                       {"do_sample", false},
                       {"early_stopping", true},
                       {"length_penalty", 1.0},
                       {"max_length", config.context},
                       {"min_length", 0},
                       {"no_repeat_ngram_size", 0},
                       {"num_beams", 1},
                       {"num_return_sequences", 1},
                       {"past_present_share_buffer", true},
                       {"repetition_penalty", 1.0},
                       {"temperature", 1.0},
                       {"top_k", 50},
                       {"top_p", 1.0}};
  return {{"model", model}, {"search", search}};
}

const char* hugging_face_class(const std::string& architecture) {
  if (architecture == "qwen2") return "Qwen2ForCausalLM";
  return architecture == "qwen3" ? "Qwen3ForCausalLM" : "LlamaForCausalLM";
}

Json hugging_face_config(const LlamaConfig& config, const GgufTokenizer& tokenizer, const ModelCard& card) {
  Json json = {{"architectures", {hugging_face_class(config.architecture)}},
               {"model_type", config.architecture},
               {"bos_token_id", optional_id(tokenizer.bos)},
               {"eos_token_id", end_ids(tokenizer)},
               {"head_dim", config.head_size},
               {"hidden_act", "silu"},
               {"hidden_size", config.hidden},
               {"intermediate_size", config.feed_forward},
               {"max_position_embeddings", config.context},
               {"num_attention_heads", config.heads},
               {"num_hidden_layers", config.layers},
               {"num_key_value_heads", config.kv_heads},
               {"rms_norm_eps", config.epsilon},
               {"rope_theta", config.rope_base},
               {"tie_word_embeddings", config.tied_embeddings},
               {"vocab_size", config.vocab}};
  if (config.rope_linear_factor != 1.0) {
    json["rope_scaling"] = {{"rope_type", "linear"}, {"factor", config.rope_linear_factor}};
  }
  if (card.random_seed) json["random_weights"] = {{"seed", *card.random_seed}, {"shape", card.source}};
  return json;
}

Json special_tokens(const GgufTokenizer& tokenizer) {
  Json json = Json::object();
  const auto add = [&](const char* key, const std::string& token) {
    if (!token.empty()) json[key] = token;
  };
  add("bos_token", tokenizer.bos_token);
  add("eos_token", tokenizer.eos_token);
  add("pad_token", tokenizer.pad_token.empty() ? tokenizer.eos_token : tokenizer.pad_token);
  add("unk_token", tokenizer.unknown_token);
  return json;
}

Json tokenizer_config(const LlamaConfig& config, const GgufTokenizer& tokenizer) {
  Json json = special_tokens(tokenizer);
  json["clean_up_tokenization_spaces"] = false;
  json["model_max_length"] = config.context;
  json["tokenizer_class"] = "PreTrainedTokenizerFast";
  if (tokenizer.chat_templates.size() == 1 && tokenizer.chat_templates.contains("default")) {
    json["chat_template"] = tokenizer.chat_templates.at("default");
  } else if (!tokenizer.chat_templates.empty()) {
    json["chat_template"] = Json::array();
    for (const auto& [name, text] : tokenizer.chat_templates) {
      json["chat_template"].push_back({{"name", name}, {"template", text}});
    }
  }
  return json;
}

std::string license_note(const ModelCard& card) {
  if (card.random_seed) {
    return fmt::format(
        "The weights in this folder are random numbers (seed {}) in the shape of {}: for measuring speed only.\n",
        *card.random_seed, card.source);
  }
  std::string note = fmt::format("The weights and the tokenizer in this folder were converted from {}{}.\n",
                                 card.source, card.name.empty() ? "" : " (" + card.name + ")");
  note += fmt::format("License stated in that file: {}\n", card.license.empty() ? "none" : card.license);
  if (!card.license_link.empty()) note += fmt::format("License text: {}\n", card.license_link);
  return note;
}

}  // namespace

void write_package_files(const std::filesystem::path& folder, const LlamaConfig& config, const GgufTokenizer& tokenizer,
                         const ModelCard& card) {
  const auto write = [&](const char* name, const Json& json) {
    write_text_file(folder / name, json.dump(4, ' ', false, Json::error_handler_t::replace) + "\n");
  };
  write("genai_config.json", genai_config(config, tokenizer));
  write("config.json", hugging_face_config(config, tokenizer, card));
  write("generation_config.json", {{"bos_token_id", optional_id(tokenizer.bos)},
                                   {"eos_token_id", end_ids(tokenizer)},
                                   {"pad_token_id", optional_id(padding(tokenizer))}});
  write("tokenizer_config.json", tokenizer_config(config, tokenizer));
  write("special_tokens_map.json", special_tokens(tokenizer));
  write_text_file(folder / "tokenizer.json", tokenizer.tokenizer_json);
  write_text_file(folder / "LICENSE", license_note(card));
  const auto chat = tokenizer.chat_templates.find("default");
  if (chat != tokenizer.chat_templates.end()) write_text_file(folder / "chat_template.jinja", chat->second);
}

int64_t bytes_below(const std::filesystem::path& folder) {
  int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    bytes += static_cast<int64_t>(entry.file_size());
  return bytes;
}

}  // namespace genai
