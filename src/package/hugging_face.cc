#include <fmt/format.h>

#include <map>
#include <system_error>

#include "base/error.h"
#include "base/mapped_file.h"
#include "package/added_tokens.h"
#include "package/fill.h"
#include "package/sources.h"

namespace genai {
namespace {

namespace fs = std::filesystem;

std::optional<ConfigNode> read_if_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored) ? std::optional(ConfigNode::read_json(file)) : std::nullopt;
}

std::string read_text(const fs::path& file) {
  const auto mapped = nxrt::MappedFile::open(file);
  return {reinterpret_cast<const char*>(mapped->bytes().data()), mapped->bytes().size()};
}

// A special token is written as its text, or as an object with `content`.
std::optional<std::string> token_text(const ConfigNode& root, const char* key) {
  const ConfigNode node = root.value(key);
  if (!node.present()) return std::nullopt;
  return node.is_text() ? node.own_text() : node.text("content");
}

void fill_token_texts(const ConfigNode& root, ModelSpec& spec) {
  fill(spec.bos_token, token_text(root, "bos_token"));
  fill(spec.eos_token, token_text(root, "eos_token"));
}

// One template as text, or several as a list of {name, template}.
void add_templates(const ConfigNode& node, ModelSpec& spec) {
  if (node.is_text()) spec.chat_templates.emplace("default", node.own_text());
  if (!node.present() || node.is_text()) return;
  for (const ConfigNode& item : node.items()) {
    const auto name = item.text("name"), text = item.text("template");
    if (!name || !text) item.fail("an object with 'name' and 'template'");
    spec.chat_templates.emplace(*name, *text);
  }
}

// Files win over what tokenizer_config.json says: newer exports write both, and people edit the file.
void read_chat_templates(const std::optional<ConfigNode>& tokenizer_config, ModelSpec& spec) {
  std::error_code ignored;
  const fs::path plain = spec.folder / "chat_template.jinja", more = spec.folder / "additional_chat_templates";
  if (fs::exists(plain, ignored)) spec.chat_templates.emplace("default", read_text(plain));
  for (const fs::directory_entry& entry : fs::directory_iterator(more, ignored)) {
    if (entry.path().extension() == ".jinja")
      spec.chat_templates.emplace(entry.path().stem().string(), read_text(entry.path()));
  }
  if (const auto json = read_if_there(spec.folder / "chat_template.json"))
    add_templates(json->value("chat_template"), spec);
  if (tokenizer_config) add_templates(tokenizer_config->value("chat_template"), spec);
}

void apply_config(const ConfigNode& root, ModelSpec& spec) {
  const ConfigNode nested = root["text_config"];  // of models that can do more than text
  for (const ConfigNode& node : {root, nested}) {
    fill(spec.model_type, node.text("model_type"));
    for (const char* key : {"max_position_embeddings", "n_positions", "n_ctx"}) {
      fill(spec.context_length, node.integer(key, 1, INT32_MAX));
    }
    fill(spec.vocab_size, node.integer("vocab_size", 1, INT32_MAX));
    fill_token(spec.bos, node.integers("bos_token_id"));
    fill_token(spec.pad, node.integers("pad_token_id"));
    if (spec.generation.eos.empty()) add_ids(spec.generation.eos, node.integers("eos_token_id"));
  }
}

void apply_generation_config(const ConfigNode& root, ModelSpec& spec) {
  fill_generation(spec.generation, root);
  add_ids(spec.generation.eos, root.integers("eos_token_id"));
  add_ids(spec.generation.suppress_tokens, root.integers("suppress_tokens"));
  fill_token(spec.bos, root.integers("bos_token_id"));
  fill_token(spec.pad, root.integers("pad_token_id"));
}

// Texts and ids of the special tokens complete each other through the tokenizer's added tokens.
void match_special_tokens(ModelSpec& spec) {
  const std::map<std::string, int64_t> ids = read_added_tokens(spec.tokenizer_json);
  const auto text_of = [&](TokenId id) -> std::optional<std::string> {
    for (const auto& [text, number] : ids) {
      if (number == id.value) return text;
    }
    return std::nullopt;
  };
  const auto eos = ids.find(spec.eos_token), bos = ids.find(spec.bos_token);
  if (eos != ids.end()) add_ids(spec.generation.eos, {eos->second});
  if (bos != ids.end()) fill_token(spec.bos, {bos->second});
  if (spec.bos && spec.bos_token.empty()) fill(spec.bos_token, text_of(*spec.bos));
  if (!spec.generation.eos.empty()) fill(spec.eos_token, text_of(spec.generation.eos[0]));
}

}  // namespace

bool apply_hugging_face_files(ModelSpec& spec) {
  const auto generation = read_if_there(spec.folder / "generation_config.json");
  const auto config = read_if_there(spec.folder / "config.json");
  const auto tokenizer = read_if_there(spec.folder / "tokenizer_config.json");
  const auto special = read_if_there(spec.folder / "special_tokens_map.json");
  if (generation) apply_generation_config(*generation, spec);
  if (config) apply_config(*config, spec);
  if (tokenizer) fill_token_texts(*tokenizer, spec);
  if (special) fill_token_texts(*special, spec);
  read_chat_templates(tokenizer, spec);
  match_special_tokens(spec);
  return config.has_value();
}

}  // namespace genai
