#include "convert/bpe_patterns.h"

#include <algorithm>

namespace genai {
namespace {

constexpr const char* kGpt2Names[] = {"default", "gpt-2", "gpt2", "mpt", "olmo", "phi-2", "dbrx"};
constexpr const char* kDigitNames[] = {"smollm", "starcoder", "refact", "codeshell", "command-r", "exaone"};

constexpr const char* kLlama3Names[] = {"llama-bpe", "llama3", "llama-v3", "falcon3", "smaug-bpe", "pixtral"};
constexpr const char* kLlama3[] = {
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re"};

constexpr const char* kQwen2Names[] = {"qwen2", "deepseek-r1-qwen", "stablelm2", "megrez"};
constexpr const char* kQwen2[] = {
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re"};

constexpr const char* kTekkenNames[] = {"tekken"};
constexpr const char* kTekken[] = {
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)re"};

constexpr const char* kGpt4oNames[] = {"gpt-4o", "o200k", "llama4"};
constexpr const char* kGpt4o[] = {
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)re"};

constexpr const char* kDeepseekCoderNames[] = {"deepseek-coder"};
constexpr const char* kDeepseekCoder[] = {R"re([\r\n])re", R"re(\s?\p{L}+)re", R"re(\s?\p{P}+)re",
                                          "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", R"re(\p{N})re"};

constexpr const char* kDeepseek3Names[] = {"deepseek-v3"};
constexpr const char* kDeepseek3[] = {
    R"re(\p{N}{1,3})re", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    R"re([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re"};

constexpr BpePattern kPatterns[] = {
    // names, splits, single digits, GPT-2 regex, ignore merges, NFC, adds BOS
    {kGpt2Names, {}, false, true, false, false, false},
    {kDigitNames, {}, true, true, false, false, false},
    {kLlama3Names, kLlama3, false, false, true, false, true},
    {kQwen2Names, kQwen2, false, false, false, true, false},
    {kTekkenNames, kTekken, false, false, true, false, true},
    {kGpt4oNames, kGpt4o, false, false, true, false, false},
    {kDeepseekCoderNames, kDeepseekCoder, false, false, false, false, true},
    {kDeepseek3Names, kDeepseek3, false, false, false, false, true},
};

}  // namespace

const BpePattern* find_bpe_pattern(std::string_view pre) {
  for (const BpePattern& pattern : kPatterns) {
    if (std::find(pattern.names.begin(), pattern.names.end(), pre) != pattern.names.end()) return &pattern;
  }
  return nullptr;
}

std::string known_bpe_patterns() {
  std::string all;
  for (const BpePattern& pattern : kPatterns) {
    for (const char* name : pattern.names) all += (all.empty() ? "" : ", ") + std::string(name);
  }
  return all;
}

}  // namespace genai
