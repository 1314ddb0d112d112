// String functions shared by filters and methods; case mapping is Unicode's.
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "text/jinja/builtins.h"

namespace genai::jinja {
namespace {

bool is_python_space(std::string_view point) {
  if (point.size() == 1)
    return point[0] == ' ' || (point[0] >= '\t' && point[0] <= '\r') || (point[0] >= 0x1c && point[0] <= 0x1f);
  utf8proc_int32_t c = 0;
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(point.data()), static_cast<utf8proc_ssize_t>(point.size()),
                   &c);
  if (c == 0x85) return true;
  const utf8proc_category_t category = c < 0 ? UTF8PROC_CATEGORY_CN : utf8proc_category(c);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

using CaseMap = utf8proc_int32_t (*)(utf8proc_int32_t);

void append_mapped(std::string_view point, CaseMap map, std::string& out) {
  utf8proc_int32_t c = -1;
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(point.data()), static_cast<utf8proc_ssize_t>(point.size()),
                   &c);
  if (c < 0) {
    out += point;
    return;
  }
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t n = utf8proc_encode_char(map(c), bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(n));
}

std::string mapped(std::string_view text, CaseMap map) {
  std::string out;
  for (const std::string_view point : code_points(text)) append_mapped(point, map, out);
  return out;
}

bool is_cased(std::string_view point) {
  std::string up, down;
  append_mapped(point, utf8proc_toupper, up);
  append_mapped(point, utf8proc_tolower, down);
  return up != down;
}

}  // namespace

std::string strip(std::string_view text, std::optional<std::string_view> characters, bool left, bool right) {
  const std::vector<std::string_view> points = code_points(text);
  const std::vector<std::string_view> set = characters ? code_points(*characters) : std::vector<std::string_view>();
  const auto goes = [&](std::string_view point) {
    return characters ? std::ranges::find(set, point) != set.end() : is_python_space(point);
  };
  size_t begin = 0, end = points.size();
  while (left && begin < end && goes(points[begin])) ++begin;
  while (right && end > begin && goes(points[end - 1])) --end;
  if (begin == end) return "";
  const char* last = points[end - 1].data() + points[end - 1].size();
  return {points[begin].data(), static_cast<size_t>(last - points[begin].data())};
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to, int64_t count) {
  std::string out;
  if (from.empty()) {  // Python puts `to` between all characters
    for (const std::string_view point : code_points(text)) {
      if (count != 0) out += to, --count;
      out += point;
    }
    if (count != 0) out += to;
    return out;
  }
  size_t begin = 0;
  for (size_t at; count != 0 && (at = text.find(from, begin)) != std::string_view::npos; --count) {
    out += text.substr(begin, at - begin);
    out += to;
    begin = at + from.size();
  }
  return out.append(text.substr(begin));
}

// One character becomes two only for ß; the rarer ligatures stay as they are.
std::string upper(std::string_view text) { return mapped(replace_all(text, "ß", "SS", -1), utf8proc_toupper); }
std::string lower(std::string_view text) { return mapped(text, utf8proc_tolower); }

std::string capitalize(std::string_view text) {
  std::string out;
  bool first = true;
  for (const std::string_view point : code_points(text)) {
    append_mapped(point, first ? utf8proc_totitle : utf8proc_tolower, out);
    first = false;
  }
  return out;
}

std::string title(std::string_view text) {
  std::string out;
  bool inside = false;
  for (const std::string_view point : code_points(text)) {
    append_mapped(point, inside ? utf8proc_tolower : utf8proc_totitle, out);
    inside = is_cased(point);
  }
  return out;
}

std::string strftime_now(const std::string& format) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 1024> buffer{};
  const size_t n = std::strftime(buffer.data(), buffer.size(), format.c_str(), &local);
  return {buffer.data(), n};
}

List iterate(const Value& value) {
  if (value.is_undefined()) return {};
  if (value.is_list()) return value.items();
  List all;
  if (value.is_string()) {
    for (const std::string_view point : code_points(value.string())) all.emplace_back(point);
  } else if (value.is_dict()) {
    for (const auto& entry : value.entries().entries) all.push_back(entry.first);
  } else {
    fail(std::string("can't loop over a ") + value.type_name());
  }
  return all;
}

Value attribute_path(const Value& value, std::string_view path) {
  Value at = value;
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    const std::string_view name = path.substr(0, dot);
    const bool index =
        !name.empty() && name.size() < 9 && std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c); });
    const Value* found = nullptr;
    if (at.is_dict()) found = std::as_const(at.entries()).find(name);
    if (at.is_list() && index && std::stoul(std::string(name)) < at.items().size())
      found = &at.items()[std::stoul(std::string(name))];
    Value next = found ? *found : Value::undefined(std::string(name));
    at = std::move(next);
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

Value slice(const Value& value, std::optional<int64_t> begin, std::optional<int64_t> end, std::optional<int64_t> step) {
  const bool text = value.is_string();
  if (!text && !value.is_list()) fail(std::string("a ") + value.type_name() + " can't be sliced");
  const List items = iterate(value);
  const auto size = static_cast<int64_t>(items.size());
  const int64_t by = step.value_or(1);
  if (by == 0) fail("a slice's step is zero");
  const auto bound = [&](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + size : i, by < 0 ? -1 : 0, by < 0 ? size - 1 : size);
  };
  const int64_t from = begin ? bound(*begin) : by < 0 ? size - 1 : 0, to = end ? bound(*end) : by < 0 ? -1 : size;
  List picked;
  for (int64_t i = from; by > 0 ? i < to : i > to; i += by) picked.push_back(items[static_cast<size_t>(i)]);
  if (!text) return Value::list(std::move(picked), std::get<Value::ListRef>(value.v).kind);
  std::string all;
  for (const Value& point : picked) all += point.string();
  return all;
}

}  // namespace genai::jinja
