#include "convert/llama_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "convert/ggml_blocks.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;

namespace {

constexpr int64_t kMaxContext = 1 << 20, kMaxRotaryElements = 1 << 28;

void refuse_experts(const GgufFile& file, const std::string& key) {
  const int64_t experts = file.integer(key).value_or(0);
  if (experts == 0) return;
  throw Error(Code::unsupported, fmt::format("the model is a mixture of {} experts, expected a dense model", experts),
              file.place_of_key(key));
}

void read_rope(const GgufFile& file, const std::string& prefix, LlamaConfig& config) {
  const std::string rotated = prefix + "rope.dimension_count";
  if (const auto count = file.integer(rotated); count && *count != config.head_size) {
    throw Error(Code::unsupported,
                fmt::format("{} of {} elements of a head are rotated, expected all", *count, config.head_size),
                file.place_of_key(rotated));
  }
  const std::string base = prefix + "rope.freq_base";
  config.rope_base = file.real(base).value_or(10000.0);
  if (!(config.rope_base > 0) || !std::isfinite(config.rope_base)) {
    throw Error(Code::corrupt, fmt::format("the base is {}, expected a positive number", config.rope_base),
                file.place_of_key(base));
  }
  const std::string scaling = prefix + "rope.scaling.type";
  const std::string_view type = file.text(scaling).value_or("none");
  const std::string factor = prefix + "rope.scaling.factor";
  if (type == "linear") {
    config.rope_linear_factor = file.real(factor).value_or(file.real(prefix + "rope.scale_linear").value_or(1.0));
    if (!(config.rope_linear_factor > 0)) {
      throw Error(Code::corrupt, "the factor is not positive", file.place_of_key(factor));
    }
  } else if (type != "none" && !type.empty()) {
    throw Error(Code::unsupported, fmt::format("the rotary scaling is '{}', expected none or linear", type),
                file.place_of_key(scaling));
  }
  if (const GgufTensor* divisors = file.find("rope_freqs.weight")) {
    if (divisors->count() != config.head_size / 2 || divisors->type != GgmlType::f32) {
      throw Error(Code::corrupt,
                  fmt::format("the tensor has {} elements of {}, expected {} of F32", divisors->count(),
                              info_of(divisors->type).name, config.head_size / 2),
                  file.place_of_tensor(divisors->name));
    }
    config.rope_divisors.resize(static_cast<size_t>(divisors->count()));
    dequantize(divisors->type, divisors->data.data(), divisors->count(), config.rope_divisors.data());
  }
}

void read_head_size(const GgufFile& file, const std::string& prefix, LlamaConfig& config) {
  config.heads = file.require_integer(prefix + "attention.head_count", 1, 4096);
  const std::string kv = prefix + "attention.head_count_kv";
  config.kv_heads = file.has(kv) ? file.require_integer(kv, 1, config.heads) : config.heads;
  if (config.heads % config.kv_heads != 0) {
    throw Error(
        Code::corrupt,
        fmt::format("there are {} key heads, expected a divisor of the {} heads", config.kv_heads, config.heads),
        file.place_of_key(kv));
  }
  const std::string size = prefix + "attention.key_length";
  config.head_size = file.has(size) ? file.require_integer(size, 2, 4096) : config.hidden / config.heads;
  const bool whole = file.has(size) || config.hidden % config.heads == 0;
  if (!whole || config.head_size < 2 || config.head_size % 2 != 0) {
    throw Error(Code::corrupt,
                fmt::format("a head has {} elements ({} / {}), expected an even number", config.head_size,
                            config.hidden, config.heads),
                file.place_of_key(prefix + "attention.head_count"));
  }
  if (file.integer(prefix + "attention.value_length").value_or(config.head_size) != config.head_size) {
    throw Error(Code::unsupported, "values have another size than keys",
                file.place_of_key(prefix + "attention.value_length"));
  }
}

bool is_known_part(std::string_view part, bool head_norms) {
  constexpr std::string_view kWithBias[] = {"attn_q",   "attn_k", "attn_v",  "attn_output",
                                            "ffn_gate", "ffn_up", "ffn_down"};
  constexpr std::string_view kNorms[] = {"attn_norm.weight", "ffn_norm.weight"};
  constexpr std::string_view kHeadNorms[] = {"attn_q_norm.weight", "attn_k_norm.weight"};
  const auto among = [&](auto& list, std::string_view name) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
  };
  if (among(kNorms, part) || (head_norms && among(kHeadNorms, part))) return true;
  const size_t dot = part.find('.');
  if (dot == std::string_view::npos || !among(kWithBias, part.substr(0, dot))) return false;
  return part.substr(dot) == ".weight" || part.substr(dot) == ".bias";
}

// A tensor that the graph would ignore means another model than the metadata says: it would answer nonsense.
void refuse_unknown_tensors(const GgufFile& file, const LlamaConfig& config) {
  constexpr std::string_view kWhole[] = {"token_embd.weight", "output.weight", "output_norm.weight",
                                         "rope_freqs.weight"};
  for (const GgufTensor& tensor : file.tensors()) {
    if (std::find(std::begin(kWhole), std::end(kWhole), tensor.name) != std::end(kWhole)) continue;
    const size_t dot = tensor.name.find('.', 4);
    const bool layer = tensor.name.starts_with("blk.") && dot != std::string::npos;
    if (layer && is_known_part(std::string_view(tensor.name).substr(dot + 1), !config.interleaved_rotary_rows))
      continue;
    throw Error(Code::unsupported, fmt::format("a {} model has no such tensor", config.architecture),
                file.place_of_tensor(tensor.name), "this variant of the architecture cannot be imported");
  }
}

}  // namespace

LlamaConfig read_llama_config(const GgufFile& file) {
  LlamaConfig config;
  config.architecture = std::string(file.text("general.architecture").value_or("(none)"));
  const std::string& name = config.architecture;
  if (name != "llama" && name != "qwen2" && name != "qwen3") {
    throw Error(Code::unsupported, fmt::format("the architecture is '{}', expected llama, qwen2 or qwen3", name),
                file.place_of_key("general.architecture"));
  }
  const std::string prefix = name + ".";
  refuse_experts(file, prefix + "expert_count");
  config.layers = file.require_integer(prefix + "block_count", 1, 1024);
  config.hidden = file.require_integer(prefix + "embedding_length", 1, 1 << 20);
  config.feed_forward = file.require_integer(prefix + "feed_forward_length", 1, 1 << 24);
  config.context = file.require_integer(prefix + "context_length", 1, kMaxContext);
  read_head_size(file, prefix, config);

  const std::string epsilon = prefix + "attention.layer_norm_rms_epsilon";
  config.epsilon = static_cast<float>(file.real(epsilon).value_or(-1.0));
  if (!(config.epsilon >= 0 && config.epsilon < 1)) {
    throw Error(Code::corrupt, "the epsilon of the norms is missing or not in [0, 1)", file.place_of_key(epsilon));
  }
  read_rope(file, prefix, config);
  if (config.context * config.head_size > kMaxRotaryElements) {
    throw Error(
        Code::unsupported,
        fmt::format("{} positions of {} elements need too large rotary tables", config.context, config.head_size),
        file.place_of_key(prefix + "context_length"));
  }
  const GgufTensor& embedding = file.require("token_embd.weight");
  config.vocab = embedding.rows();
  config.interleaved_rotary_rows = name == "llama";
  config.tied_embeddings = !file.find("output.weight");
  refuse_unknown_tensors(file, config);
  return config;
}

}  // namespace genai
