#include "convert/llama_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <system_error>

#include "base/error.h"
#include "package/config_node.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;

namespace {

namespace fs = std::filesystem;

struct NamedShape {
  const char* name;
  int64_t layers, hidden, feed_forward, heads, kv_heads, vocab, context;
  double rope_base;
  bool tied;
};

constexpr NamedShape kShapes[] = {
    {"135M", 30, 576, 1536, 9, 3, 49152, 8192, 100000, true},       // SmolLM2
    {"1B", 16, 2048, 8192, 32, 8, 128256, 131072, 500000, true},    // Llama 3.2
    {"3B", 28, 3072, 8192, 24, 8, 128256, 131072, 500000, true},    // Llama 3.2
    {"7B", 32, 4096, 11008, 32, 32, 32000, 4096, 10000, false},     // Llama 2
    {"8B", 32, 4096, 14336, 32, 8, 128256, 131072, 500000, false},  // Llama 3.1
};

LlamaConfig config_of(const NamedShape& shape) {
  return {.architecture = "llama",
          .layers = shape.layers,
          .hidden = shape.hidden,
          .feed_forward = shape.feed_forward,
          .heads = shape.heads,
          .kv_heads = shape.kv_heads,
          .head_size = shape.hidden / shape.heads,
          .vocab = shape.vocab,
          .context = shape.context,
          .epsilon = 1e-5f,
          .rope_base = shape.rope_base,
          .tied_embeddings = shape.tied};
}

[[noreturn]] void refuse(const ConfigNode& node, const std::string& what, const char* fix = "") {
  throw Error(Code::unsupported, what, node.where(), fix);
}

int64_t require(const ConfigNode& root, const char* key, int64_t highest) {
  const auto value = root.integer(key, 1, highest);
  if (!value) root.value(key).fail("an integer");
  return *value;
}

void read_architecture(const ConfigNode& root, LlamaConfig& config) {
  const std::string type = root.text("model_type").value_or("(none)");
  if (type != "llama" && type != "mistral" && type != "qwen2" && type != "qwen3") {
    refuse(root.value("model_type"), fmt::format("the model is '{}', expected llama, mistral, qwen2 or qwen3", type));
  }
  config.architecture = type == "mistral" ? "llama" : type;
  const std::string activation = root.text("hidden_act").value_or("silu");
  if (activation != "silu") {
    refuse(root.value("hidden_act"), fmt::format("the activation is '{}', expected silu", activation));
  }
}

// Llama 3.1: long wavelengths are stretched by `factor`, short ones kept, those between blended.
std::vector<float> llama3_divisors(const ConfigNode& scaling, const LlamaConfig& config) {
  const double factor = scaling.number("factor").value_or(8), low = scaling.number("low_freq_factor").value_or(1),
               high = scaling.number("high_freq_factor").value_or(4),
               context = scaling.number("original_max_position_embeddings").value_or(8192);
  if (!(factor >= 1 && low > 0 && high > low && context >= 1)) scaling.fail("factors in order");
  std::vector<float> divisors;
  for (int64_t pair = 0; pair < config.head_size / 2; ++pair) {
    const double exponent = 2.0 * static_cast<double>(pair) / static_cast<double>(config.head_size);
    const double turns = context / (2 * std::numbers::pi * std::pow(config.rope_base, exponent));
    const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    divisors.push_back(static_cast<float>(1 / (kept + (1 - kept) / factor)));
  }
  return divisors;
}

// Newer files hold everything in rope_parameters, older ones in rope_theta and rope_scaling.
void read_rope(const ConfigNode& root, LlamaConfig& config) {
  const ConfigNode newer = root["rope_parameters"], scaling = newer.present() ? newer : root["rope_scaling"];
  config.rope_base = newer.number("rope_theta").value_or(root.number("rope_theta").value_or(10000.0));
  if (!(config.rope_base > 0)) root.value("rope_theta").fail("a positive number");
  const std::string type = scaling.text("rope_type").value_or(scaling.text("type").value_or("default"));
  if (type == "linear") {
    config.rope_linear_factor = scaling.number("factor").value_or(1.0);
    if (!(config.rope_linear_factor > 0)) scaling.value("factor").fail("a positive number");
  } else if (type == "llama3") {
    config.rope_divisors = llama3_divisors(scaling, config);
  } else if (type != "default") {
    refuse(scaling, fmt::format("the rotary scaling is '{}', expected default, linear or llama3", type));
  }
}

void read_heads(const ConfigNode& root, LlamaConfig& config) {
  config.heads = require(root, "num_attention_heads", 4096);
  config.kv_heads = root.integer("num_key_value_heads", 1, config.heads).value_or(config.heads);
  if (config.heads % config.kv_heads != 0) {
    root.value("num_key_value_heads").fail(fmt::format("a divisor of the {} heads", config.heads));
  }
  const auto stated = root.integer("head_dim", 2, 4096);
  config.head_size = stated.value_or(config.hidden / config.heads);
  const bool whole = stated || config.hidden % config.heads == 0;
  if (!whole || config.head_size < 2 || config.head_size % 2 != 0) {
    root.value("num_attention_heads").fail("heads of an even number of elements");
  }
}

// 4-bit blocks have 32 elements; every product's inner dimension must be made of them.
void expect_whole_blocks(const ConfigNode& root, const LlamaConfig& config) {
  if (config.hidden % 32 != 0) root.value("hidden_size").fail("a multiple of 32");
  if (config.feed_forward % 32 != 0) root.value("intermediate_size").fail("a multiple of 32");
  if (config.heads * config.head_size % 32 != 0) root.value("head_dim").fail("heads of 32 elements together");
}

LlamaConfig read_hugging_face_config(const fs::path& file) {
  const ConfigNode root = ConfigNode::read_json(file);
  LlamaConfig config;
  read_architecture(root, config);
  config.layers = require(root, "num_hidden_layers", 1024);
  config.hidden = require(root, "hidden_size", 1 << 20);
  config.feed_forward = require(root, "intermediate_size", 1 << 24);
  config.vocab = require(root, "vocab_size", 1 << 24);
  config.context = require(root, "max_position_embeddings", 1 << 20);
  config.epsilon = static_cast<float>(root.number("rms_norm_eps").value_or(1e-6));
  config.tied_embeddings = root.boolean("tie_word_embeddings").value_or(false);
  read_heads(root, config);
  read_rope(root, config);
  expect_whole_blocks(root, config);
  return config;
}

}  // namespace

LlamaConfig read_llama_shape(const std::string& name_or_path) {
  for (const NamedShape& shape : kShapes) {
    if (name_or_path == shape.name) return config_of(shape);
  }
  std::error_code ignored;
  if (fs::is_directory(name_or_path, ignored)) return read_hugging_face_config(fs::path(name_or_path) / "config.json");
  if (fs::exists(name_or_path, ignored)) return read_hugging_face_config(name_or_path);
  throw Error(Code::not_found, "neither the name of a shape nor a file", name_or_path,
              "give one of " + known_llama_shapes() + ", or the path of a config.json");
}

std::string known_llama_shapes() {
  std::string all;
  for (const NamedShape& shape : kShapes) all += (all.empty() ? "" : ", ") + std::string(shape.name);
  return all;
}

}  // namespace genai
