// Who may use the server: API keys and the browsers' origins.
//
// Threads: immutable after construction. Errors: the constructor throws Error for a key file that can't be read or
// holds no key; check() throws ApiError{401}. Keys are compared in constant time and never logged.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http.h"

namespace genai::serve {

class ApiKeys {
 public:
  ApiKeys() = default;                                  // none: everyone may
  explicit ApiKeys(const std::filesystem::path& file);  // one key a line; empty lines and # comments are skipped

  bool required() const { return !hashes_.empty(); }
  // The owner that the request's key stands for: a hash of it; empty when no key is required.
  std::string check(const HttpRequest& request) const;

 private:
  std::vector<std::string> hashes_;
};

class Origins {
 public:
  Origins() = default;
  explicit Origins(std::vector<std::string> allowed) : allowed_(std::move(allowed)) {}  // "*": any

  bool allows(std::string_view origin) const;
  void add_headers(const HttpRequest& request, Reply& reply) const;
  Reply preflight(const HttpRequest& request) const;  // the answer to OPTIONS

 private:
  std::vector<std::string> allowed_;
};

// Whether everyone who reaches `host` is on this machine.
bool is_loopback(const std::string& host);

}  // namespace genai::serve
