#include "serve/access.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <fstream>

#include "serve/api_error.h"

namespace genai::serve {
namespace {
std::string hash_of(std::string_view key) {
  unsigned char sum[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), sum);
  std::string hex;
  for (const unsigned char byte : sum) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string_view key_of(const HttpRequest& request) {
  constexpr std::string_view kBearer = "bearer ";
  const std::string_view header = request.header("authorization");
  const bool bearer = header.size() > kBearer.size() &&
                      std::equal(kBearer.begin(), kBearer.end(), header.begin(),
                                 [](char want, char is) { return want == (is >= 'A' && is <= 'Z' ? is + 32 : is); });
  return bearer ? trimmed(header.substr(kBearer.size())) : request.header("x-api-key");
}
}  // namespace

ApiKeys::ApiKeys(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in)
    throw nxrt::Error(nxrt::Code::io, "the file of API keys can't be read", file.string(), "check --api-key-file");
  for (std::string line; std::getline(in, line);) {
    const std::string_view key = trimmed(line);
    if (!key.empty() && !key.starts_with('#')) hashes_.push_back(hash_of(key));
  }
  if (hashes_.empty()) {
    throw nxrt::Error(nxrt::Code::invalid_argument, "the file of API keys holds no key, expected one a line",
                      file.string(), "add a key");
  }
}

std::string ApiKeys::check(const HttpRequest& request) const {
  if (!required()) return {};
  const std::string_view key = key_of(request);
  if (key.empty()) throw ApiError::unauthorized("an API key is required; send it as Authorization: Bearer KEY");
  const std::string hash = hash_of(key);
  int known = 0;
  for (const std::string& other : hashes_) known |= CRYPTO_memcmp(hash.data(), other.data(), hash.size()) == 0;
  if (!known) throw ApiError::unauthorized("this API key is not known to the server");
  return hash;
}

bool Origins::allows(std::string_view origin) const {
  return std::ranges::any_of(allowed_, [&](const std::string& one) { return one == "*" || one == origin; });
}

void Origins::add_headers(const HttpRequest& request, Reply& reply) const {
  const std::string_view origin = request.header("origin");
  if (origin.empty() || !allows(origin)) return;
  reply.headers.emplace_back("Access-Control-Allow-Origin", origin);
  reply.headers.emplace_back("Vary", "Origin");
}

Reply Origins::preflight(const HttpRequest& request) const {
  const std::string_view origin = request.header("origin");
  if (origin.empty() || !allows(origin)) {
    throw ApiError::forbidden("origin_not_allowed",
                              "this origin is not allowed; the server's --cors-allow-origin says which are");
  }
  Reply reply{.status = 204, .content_type = {}};
  reply.headers = {{"Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS"},
                   {"Access-Control-Allow-Headers", "content-type, authorization, x-api-key, x-session-id"},
                   {"Access-Control-Max-Age", "600"}};
  return reply;
}

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

}  // namespace genai::serve
