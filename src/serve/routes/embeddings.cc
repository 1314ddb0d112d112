// POST /v1/embeddings
#include <algorithm>
#include <bit>

#include "serve/answer.h"
#include "serve/completion_call.h"
#include "serve/dispatch.h"

namespace genai::serve::routes {
namespace {
constexpr size_t kMaxInputs = 2048;

std::vector<TokenId> read_input(const Json& input, const std::string& path, const Embedder& embedder) {
  std::vector<TokenId> ids =
      input.is_string() ? embedder.tokens_of(input.get_ref<const std::string&>()) : read_token_ids(input, path);
  const auto tokens = static_cast<int64_t>(ids.size());
  if (tokens == 0) throw ApiError::bad_request(path, path + " is empty, expected at least one token");
  if (tokens > embedder.context_length()) {
    ApiError error = ApiError::context_length(tokens, embedder.context_length(), path);
    error.message = path + " has " + std::to_string(tokens) + " tokens, expected at most " +
                    std::to_string(embedder.context_length());
    throw error;
  }
  return ids;
}

std::vector<std::vector<TokenId>> read_inputs(const Json& input, const Embedder& embedder) {
  const bool one = input.is_string() || (input.is_array() && !input.empty() &&
                                         std::ranges::all_of(input, [](const Json& i) { return i.is_number(); }));
  if (one) return {read_input(input, "input", embedder)};
  if (!input.is_array() || input.empty() || input.size() > kMaxInputs) {
    throw ApiError::bad_request("input",
                                "input is " + shown(input) + ", expected a text, token ids, or an array of those");
  }
  std::vector<std::vector<TokenId>> inputs;
  for (size_t i = 0; i < input.size(); ++i) {
    inputs.push_back(read_input(input[i], "input[" + std::to_string(i) + "]", embedder));
  }
  return inputs;
}

std::string base64(const std::vector<float>& vector) {
  static_assert(std::endian::native == std::endian::little);
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* bytes = reinterpret_cast<const unsigned char*>(vector.data());
  const size_t size = vector.size() * sizeof(float);
  std::string text;
  for (size_t i = 0; i < size; i += 3) {
    const uint32_t b = i + 1 < size ? bytes[i + 1] : 0, c = i + 2 < size ? bytes[i + 2] : 0;
    const uint32_t three = uint32_t{bytes[i]} << 16 | b << 8 | c;
    for (int digit = 0; digit < 4; ++digit) {
      const bool padding = i + static_cast<size_t>(digit) > size;
      text += padding ? '=' : kDigits[three >> (18 - 6 * digit) & 63];
    }
  }
  return text;
}

Reply answer(Server& server, const HttpRequest& http) {
  const Json body = body_object(http.body);
  Fields fields(body);
  const std::string name = fields.text("model").value_or("");
  const Json& input = fields.required("input", "a text or an array of texts");
  const bool as_base64 = fields.one_of("encoding_format", {"float", "base64"}) == "base64";
  if (fields.integer("dimensions", 1, INT32_MAX)) {
    throw ApiError::unsupported("dimensions", "dimensions is not supported by this server: leave it out");
  }
  fields.find("user");
  if (server.options().limits.strict) fields.refuse_unread();
  const std::shared_ptr<ServedModel> model = server.models().get(name);
  if (!model->embedder) {
    throw ApiError::unsupported("model", "model '" + model->name + "' makes no embeddings");
  }
  Json data = Json::array();
  int64_t tokens = 0;
  for (const std::vector<TokenId>& ids : read_inputs(input, *model->embedder)) {
    tokens += static_cast<int64_t>(ids.size());
    const std::vector<float> vector = model->embedder->embed(ids);
    data.push_back({{"object", "embedding"},
                    {"index", data.size()},
                    {"embedding", as_base64 ? Json(base64(vector)) : Json(vector)}});
  }
  return json_reply({{"object", "list"},
                     {"data", std::move(data)},
                     {"model", model->name},
                     {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}});
}

}  // namespace

Route embeddings() { return {.method = "POST", .path = "/v1/embeddings", .answer = answer}; }

}  // namespace genai::serve::routes
