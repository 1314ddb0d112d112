#include "cli/validators.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace genai::cli {
namespace {

std::string expected(const std::string& text, const char* what) { return "'" + text + "' is not " + what; }

// Not a finite number: NaN.
double number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() || *end != 0 || !std::isfinite(value) ? NAN : value;
}

}  // namespace

CLI::Validator above_zero() {
  const auto check = [](const std::string& text) {
    return number(text) > 0 ? std::string() : expected(text, "a number above 0");
  };
  return CLI::Validator(check, "ABOVE 0");
}

CLI::Validator not_negative() {
  const auto check = [](const std::string& text) {
    return number(text) >= 0 ? std::string() : expected(text, "a number from 0 on");
  };
  return CLI::Validator(check, "FROM 0");
}

CLI::Validator unsigned_integer() {
  const auto check = [](const std::string& text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::string() : expected(text, "an integer from 0 to 2^64 - 1");
  };
  return CLI::Validator(check, "");
}

}  // namespace genai::cli
