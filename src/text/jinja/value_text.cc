// str(), repr() and json.dumps of template values.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/jinja/value.h"

namespace genai::jinja {
namespace {

// repr of a float: the shortest digits that read back, in Python's notation.
std::string float_text(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d > 0 ? "inf" : "-inf";
  const double magnitude = std::fabs(d);
  if (magnitude != 0 && (magnitude >= 1e16 || magnitude < 1e-4)) {
    std::string text = fmt::format("{:e}", d);
    for (int precision = 0; precision < 17; ++precision) {
      text = fmt::format("{:.{}e}", d, precision);
      if (std::stod(text) == d) break;
    }
    return text;
  }
  std::string text = fmt::format("{}", d);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string quoted(const std::string& text) {
  const bool single = text.find('\'') != std::string::npos && text.find('"') == std::string::npos;
  const char quote = single ? '"' : '\'';
  std::string all(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      all += '\\';
      all += c;
    } else if (c == '\n') {
      all += "\\n";
    } else if (c == '\r') {
      all += "\\r";
    } else if (c == '\t') {
      all += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      all += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      all += c;
    }
  }
  return all + quote;
}

uint32_t code_point(std::string_view bytes) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (bytes.size() == 1) return at(0);
  uint32_t value = at(0) & (0xffu >> (bytes.size() + 1));
  for (size_t i = 1; i < bytes.size(); ++i) value = (value << 6) | (at(i) & 0x3fu);
  return value;
}

void json_string(std::string_view text, bool ascii, std::string& out) {
  out += '"';
  for (const std::string_view point : code_points(text)) {
    const uint32_t c = code_point(point);
    if (c == '"')
      out += "\\\"";
    else if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\b')
      out += "\\b";
    else if (c == '\f')
      out += "\\f";
    else if (c < 0x20 || (ascii && c > 0x7e && c < 0x10000))
      out += fmt::format("\\u{:04x}", c);
    else if (ascii && c >= 0x10000)
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
    else
      out += point;
  }
  out += '"';
}

class JsonWriter {
 public:
  explicit JsonWriter(const JsonStyle& style) : style_(style) {}

  void write(const Value& value, int depth) {
    const Descent level;
    if (value.is_none())
      out += "null";
    else if (value.is_bool())
      out += value.truth() ? "true" : "false";
    else if (value.is_string())
      json_string(value.string(), style_.ascii, out);
    else if (value.is_number())
      out += number(value);
    else if (value.is_list())
      list(value.items(), depth);
    else if (value.is_dict())
      dict(value.entries(), depth);
    else
      fail(std::string("a value of type ") + value.type_name() + " can't be written as JSON");
  }

  std::string out;

 private:
  static std::string number(const Value& value) {
    if (!value.is_float()) return std::to_string(value.integer());
    const double d = value.number();
    if (std::isnan(d)) return "NaN";
    if (std::isinf(d)) return d > 0 ? "Infinity" : "-Infinity";
    return float_text(d);
  }

  void line(int depth) {
    if (style_.indent >= 0) out += "\n" + std::string(static_cast<size_t>(style_.indent * depth), ' ');
  }

  // With an indent Python drops the space after the comma.
  std::string separator() const {
    return style_.indent >= 0 && style_.item_separator == ", " ? "," : style_.item_separator;
  }

  void list(const List& items, int depth) {
    if (items.empty()) {
      out += "[]";
      return;
    }
    out += '[';
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) out += separator();
      line(depth + 1);
      write(items[i], depth + 1);
    }
    line(depth);
    out += ']';
  }

  void dict(const Dict& dict, int depth) {
    if (dict.entries.empty()) {
      out += "{}";
      return;
    }
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& entry : dict.entries) entries.push_back(&entry);
    if (style_.sort_keys)
      std::ranges::stable_sort(entries, [](auto* a, auto* b) { return order(a->first, b->first) < 0; });
    out += '{';
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i) out += separator();
      line(depth + 1);
      const Value& key = entries[i]->first;
      std::string name = to_string(key);
      if (key.is_none()) name = "null";
      if (key.is_bool()) name = key.truth() ? "true" : "false";
      json_string(name, style_.ascii, out);
      out += style_.key_separator;
      write(entries[i]->second, depth + 1);
    }
    line(depth);
    out += '}';
  }

  const JsonStyle& style_;
};

}  // namespace

std::string repr(const Value& value) {
  if (value.is_string()) return quoted(value.string());
  if (value.is_undefined()) return "Undefined";
  return to_string(value);
}

std::string to_string(const Value& value) {
  if (value.is_undefined()) return "";
  if (value.is_none()) return "None";
  if (value.is_bool()) return value.truth() ? "True" : "False";
  if (value.is_string()) return value.string();
  if (value.is_float()) return float_text(value.number());
  if (value.is_int()) return std::to_string(value.integer());
  const Descent level;
  std::string all;
  if (value.is_list()) {
    const bool tuple = std::get<Value::ListRef>(value.v).kind == Value::Sequence::tuple;
    for (const Value& item : value.items()) all += (all.empty() ? "" : ", ") + repr(item);
    if (tuple && value.items().size() == 1) all += ",";
    return tuple ? "(" + all + ")" : "[" + all + "]";
  }
  if (value.is_dict()) {
    for (const auto& [key, item] : value.entries().entries)
      all += (all.empty() ? "" : ", ") + repr(key) + ": " + repr(item);
    return (value.entries().is_namespace ? "<Namespace {" : "{") + all + (value.entries().is_namespace ? "}>" : "}");
  }
  return "<function>";
}

std::string to_json(const Value& value, const JsonStyle& style) {
  JsonWriter writer(style);
  writer.write(value, 0);
  return writer.out;
}

}  // namespace genai::jinja
