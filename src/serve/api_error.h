// A refusal as the client sees it: status, and {"error":{"message","type","param","code"}}.
//
//   throw ApiError::bad_request("temperature", "temperature is -1, expected 0 to 2");
//
// Routes throw it, or an nxrt::Error that means the same (see from()); the dispatcher turns both into a reply.
// Threads: a value.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/chat_template.h"

namespace genai::serve {

// Where an Error about a file of --session-dir happened: its cause is told, its path isn't.
inline constexpr const char* kSessionFile = "session file";

struct ApiError : std::exception {
  int status = 500;
  std::string type = "server_error", code, param, message;
  std::optional<int> retry_after_s;
  std::vector<std::pair<std::string, int64_t>> figures;  // further fields of the error object
  std::vector<std::pair<std::string, std::string>> headers;

  const char* what() const noexcept override { return message.c_str(); }
  Json body() const;

  static ApiError bad_request(std::string param, std::string message, std::string code = "invalid_value");
  static ApiError unsupported(std::string param, std::string message);
  static ApiError not_found(std::string message, std::string code, std::string param = {});
  static ApiError conflict(std::string code, std::string message);
  static ApiError session_busy(const std::string& session);
  static ApiError context_length(int64_t prompt_tokens, int64_t context, std::string param);
  static ApiError rate_limit(std::string code, std::string message);
  static ApiError capacity(std::string message, std::string code);
  static ApiError unavailable(std::string code, std::string message);
  static ApiError unauthorized(std::string message);
  static ApiError forbidden(std::string code, std::string message);
  static ApiError internal();

  // An Error of the engine or the package: about a field of the request, which is named in `at`; about a session's file
  // or the chat template, which the request brought into play; or about a file of this machine, which is internal().
  static ApiError from(const nxrt::Error& error);
};

}  // namespace genai::serve
