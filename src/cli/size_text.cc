#include "cli/size_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

namespace genai::cli {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr std::array kUnits = {Unit{"TiB", 0x1p40}, Unit{"GiB", 0x1p30}, Unit{"MiB", 0x1p20},
                               Unit{"KiB", 0x1p10}, Unit{"TB", 1e12},    Unit{"GB", 1e9},
                               Unit{"MB", 1e6},     Unit{"KB", 1e3},     Unit{"B", 1}};

}  // namespace

std::optional<int64_t> parse_size(std::string_view text, int64_t whole) {
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  const std::string_view unit(end);
  if (end == copy.c_str() || !std::isfinite(number) || number < 0) return {};
  double bytes = -1;
  if (unit.empty()) {
    const bool fraction = copy.find('.') != std::string::npos;
    if (fraction && number > 1) return {};
    bytes = fraction ? number * static_cast<double>(whole) : number;
  }
  for (const Unit& known : kUnits) {
    if (unit == known.name) bytes = number * known.bytes;
  }
  if (bytes < 0 || bytes > 9e18) return {};
  return static_cast<int64_t>(bytes);
}

std::string size_text(int64_t bytes) {
  for (const Unit& unit : kUnits) {
    if (unit.name.size() == 3 && static_cast<double>(bytes) >= unit.bytes) {
      return fmt::format("{:.2f} {}", static_cast<double>(bytes) / unit.bytes, unit.name);
    }
  }
  return fmt::format("{} B", bytes);
}

}  // namespace genai::cli
