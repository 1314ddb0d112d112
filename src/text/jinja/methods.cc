// Python's methods of str, list and dict, as templates call them.
#include <algorithm>
#include <array>

#include "text/jinja/builtins.h"

namespace genai::jinja {
namespace {

std::optional<std::string_view> characters(const CallArgs& args) {
  if (args.positional.empty() || args.positional[0].is_none()) return {};
  if (!args.positional[0].is_string()) fail("a string of characters was expected");
  return args.positional[0].string();
}

const std::string& text_argument(const CallArgs& args, size_t i, const char* method) {
  if (i >= args.positional.size() || !args.positional[i].is_string())
    fail(std::string(method) + " needs a string argument");
  return args.positional[i].string();
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

Value split_on_spaces(std::string_view text, int64_t limit) {
  List parts;
  size_t i = 0;
  while (true) {
    while (i < text.size() && is_space(text[i])) ++i;
    if (i >= text.size()) break;
    if (limit >= 0 && static_cast<int64_t>(parts.size()) == limit) {
      parts.emplace_back(strip(text.substr(i), {}, false, true));
      break;
    }
    size_t end = i;
    while (end < text.size() && !is_space(text[end])) ++end;
    parts.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return Value::list(std::move(parts));
}

int64_t limit_argument(const CallArgs& args) {
  const Value* limit = args.get(1, "maxsplit");
  return limit ? limit->integer() : -1;
}

Value split(const Value& self, const CallArgs& args) {
  const std::string_view text = self.string();
  const int64_t limit = limit_argument(args);
  const Value* separator = args.get(0, "sep");
  if (!separator || separator->is_none()) return split_on_spaces(text, limit);
  const std::string& by = separator->string();
  if (by.empty()) fail("split by an empty separator");
  List parts;
  size_t begin = 0;
  for (size_t at; (at = text.find(by, begin)) != std::string_view::npos &&
                  (limit < 0 || static_cast<int64_t>(parts.size()) < limit);) {
    parts.emplace_back(text.substr(begin, at - begin));
    begin = at + by.size();
  }
  parts.emplace_back(text.substr(begin));
  return Value::list(std::move(parts));
}

Value rsplit(const Value& self, const CallArgs& args) {
  const std::string_view text = self.string();
  const int64_t limit = limit_argument(args);
  if (args.positional.empty() || limit < 0) return split(self, args);
  const std::string& by = text_argument(args, 0, "rsplit");
  if (by.empty()) fail("split by an empty separator");
  List parts;
  size_t end = text.size();
  while (static_cast<int64_t>(parts.size()) < limit && end >= by.size()) {
    const size_t at = text.rfind(by, end - by.size());
    if (at == std::string_view::npos) break;
    parts.emplace_back(text.substr(at + by.size(), end - at - by.size()));
    end = at;
  }
  parts.emplace_back(text.substr(0, end));
  std::ranges::reverse(parts);
  return Value::list(std::move(parts));
}

Value splitlines(const Value& self, const CallArgs& args) {
  const bool keep = !args.positional.empty() && args.positional[0].truth();
  const std::string& text = self.string();
  List lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find_first_of("\r\n", begin), text.size()), next = end;
    if (next < text.size()) next += text.compare(next, 2, "\r\n") == 0 ? 2 : 1;
    lines.emplace_back(text.substr(begin, (keep ? next : end) - begin));
    begin = next;
  }
  return Value::list(std::move(lines));
}

template <class F>
Value any_affix(const CallArgs& args, const char* method, F matches) {
  if (args.positional.empty()) fail(std::string(method) + " needs an argument");
  const Value& affix = args.positional[0];
  if (affix.is_string()) return matches(affix.string());
  if (affix.is_list())
    return std::ranges::any_of(affix.items(), [&](const Value& v) { return v.is_string() && matches(v.string()); });
  fail(std::string(method) + " needs a string or a tuple of strings");
}

Value startswith(const Value& self, const CallArgs& args) {
  return any_affix(args, "startswith", [&](const std::string& s) { return self.string().starts_with(s); });
}
Value endswith(const Value& self, const CallArgs& args) {
  return any_affix(args, "endswith", [&](const std::string& s) { return self.string().ends_with(s); });
}

Value replace(const Value& self, const CallArgs& args) {
  const Value* count = args.get(2, "count");
  return replace_all(self.string(), text_argument(args, 0, "replace"), text_argument(args, 1, "replace"),
                     count ? count->integer() : -1);
}

// A byte offset as a number of characters.
Value character_index(const std::string& text, size_t at) {
  return at == std::string::npos
             ? Value(-1)
             : Value(static_cast<int64_t>(code_points(std::string_view(text).substr(0, at)).size()));
}
Value find(const Value& self, const CallArgs& args) {
  return character_index(self.string(), self.string().find(text_argument(args, 0, "find")));
}
Value rfind(const Value& self, const CallArgs& args) {
  return character_index(self.string(), self.string().rfind(text_argument(args, 0, "rfind")));
}

Value count(const Value& self, const CallArgs& args) {
  const std::string& wanted = text_argument(args, 0, "count");
  int64_t found = 0;
  for (size_t at = 0; !wanted.empty() && (at = self.string().find(wanted, at)) != std::string::npos;
       at += wanted.size())
    ++found;
  return found;
}

Value join(const Value& self, const CallArgs& args) {
  if (args.positional.empty()) fail("join needs an argument");
  std::string all;
  bool first = true;
  for (const Value& item : iterate(args.positional[0])) {
    if (!item.is_string()) fail(std::string("join expected strings, got ") + item.type_name());
    if (!first) all += self.string();
    first = false;
    all += item.string();
  }
  return all;
}

template <class F>
bool all_characters(const Value& self, F is) {
  return !self.string().empty() && std::ranges::all_of(self.string(), [&](unsigned char c) { return is(c) != 0; });
}
Value isdigit(const Value& self, const CallArgs&) {
  return all_characters(self, [](unsigned char c) { return std::isdigit(c); });
}
Value isalpha(const Value& self, const CallArgs&) {
  return all_characters(self, [](unsigned char c) { return std::isalpha(c) || c >= 0x80; });
}
Value isalnum(const Value& self, const CallArgs&) {
  return all_characters(self, [](unsigned char c) { return std::isalnum(c) || c >= 0x80; });
}
Value isspace(const Value& self, const CallArgs&) {
  return all_characters(self, [](unsigned char c) { return std::isspace(c); });
}
Value isupper(const Value& self, const CallArgs&) {
  return upper(self.string()) == self.string() && lower(self.string()) != self.string();
}
Value islower(const Value& self, const CallArgs&) {
  return lower(self.string()) == self.string() && upper(self.string()) != self.string();
}

Value strip_both(const Value& self, const CallArgs& args) { return strip(self.string(), characters(args), true, true); }
Value lstrip(const Value& self, const CallArgs& args) { return strip(self.string(), characters(args), true, false); }
Value rstrip(const Value& self, const CallArgs& args) { return strip(self.string(), characters(args), false, true); }
Value to_upper(const Value& self, const CallArgs&) { return upper(self.string()); }
Value to_lower(const Value& self, const CallArgs&) { return lower(self.string()); }
Value to_title(const Value& self, const CallArgs&) { return title(self.string()); }
Value to_capital(const Value& self, const CallArgs&) { return capitalize(self.string()); }

Value removeprefix(const Value& self, const CallArgs& args) {
  const std::string& prefix = text_argument(args, 0, "removeprefix");
  return self.string().starts_with(prefix) ? Value(self.string().substr(prefix.size())) : self;
}
Value removesuffix(const Value& self, const CallArgs& args) {
  const std::string& suffix = text_argument(args, 0, "removesuffix");
  return self.string().ends_with(suffix) ? Value(self.string().substr(0, self.string().size() - suffix.size())) : self;
}

// "{} and {name}".format(…); fields without a format specification.
Value format(const Value& self, const CallArgs& args) {
  const std::string& text = self.string();
  std::string all;
  size_t next = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] == '{' || text[i] == '}') && i + 1 < text.size() && text[i + 1] == text[i]) {
      all += text[i++];
    } else if (text[i] == '{') {
      const size_t end = text.find('}', i);
      if (end == std::string::npos) fail("format: '{' is not closed");
      const std::string field = text.substr(i + 1, end - i - 1);
      const bool number = !field.empty() && field.size() < 4 &&
                          std::ranges::all_of(field, [](unsigned char c) { return std::isdigit(c); });
      const Value* value = field.empty() ? args.get(next++, "")
                           : number      ? args.get(std::stoul(field), "")
                                         : args.get(SIZE_MAX, field);
      if (!value) fail("format: there is no argument for '{" + field + "}'");
      all += to_string(*value);
      i = end;
    } else {
      all += text[i];
    }
  }
  return all;
}

Value pad(const Value& self, const CallArgs& args, bool left, char fill) {
  const int64_t width = args.positional.empty() ? 0 : std::clamp<int64_t>(args.positional[0].integer(), 0, 1 << 20);
  const auto length = static_cast<int64_t>(code_points(self.string()).size());
  const std::string padding(static_cast<size_t>(std::max<int64_t>(width - length, 0)), fill);
  return left ? padding + self.string() : self.string() + padding;
}
Value rjust(const Value& self, const CallArgs& args) { return pad(self, args, true, ' '); }
Value ljust(const Value& self, const CallArgs& args) { return pad(self, args, false, ' '); }
Value zfill(const Value& self, const CallArgs& args) { return pad(self, args, true, '0'); }

Value append(const Value& self, const CallArgs& args) {
  if (args.positional.size() != 1) fail("append needs one argument");
  Arena::current().count(1);
  self.items().push_back(args.positional[0]);
  return {};
}
Value extend(const Value& self, const CallArgs& args) {
  if (args.positional.size() != 1) fail("extend needs one argument");
  const List more = iterate(args.positional[0]);  // a copy: a list may extend itself
  Arena::current().count(more.size());
  self.items().insert(self.items().end(), more.begin(), more.end());
  return {};
}
Value insert(const Value& self, const CallArgs& args) {
  if (args.positional.size() != 2) fail("insert needs two arguments");
  const auto size = static_cast<int64_t>(self.items().size());
  int64_t at = args.positional[0].integer();
  at = std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  self.items().insert(self.items().begin() + at, args.positional[1]);
  return {};
}
Value pop_item(const Value& self, const CallArgs& args) {
  const auto size = static_cast<int64_t>(self.items().size());
  int64_t at = args.positional.empty() ? size - 1 : args.positional[0].integer();
  if (at < 0) at += size;
  if (at < 0 || at >= size) fail("pop: the index is out of range");
  Value item = self.items()[static_cast<size_t>(at)];
  self.items().erase(self.items().begin() + at);
  return item;
}
Value index_of(const Value& self, const CallArgs& args) {
  if (args.positional.empty()) fail("index needs an argument");
  const auto found = std::ranges::find_if(self.items(), [&](const Value& v) { return equal(v, args.positional[0]); });
  if (found == self.items().end()) fail(repr(args.positional[0]) + " is not in the list");
  return static_cast<int64_t>(found - self.items().begin());
}
Value count_items(const Value& self, const CallArgs& args) {
  if (args.positional.empty()) fail("count needs an argument");
  return static_cast<int64_t>(
      std::ranges::count_if(self.items(), [&](const Value& v) { return equal(v, args.positional[0]); }));
}
Value copy_list(const Value& self, const CallArgs&) { return Value::list(self.items()); }

Value get(const Value& self, const CallArgs& args) {
  if (args.positional.empty()) fail("get needs an argument");
  const Value* value = self.entries().find(args.positional[0]);
  const Value* fallback = args.get(1, "default");
  return value ? *value : fallback ? *fallback : Value();
}
Value dict_items(const Value& self, const CallArgs&) { return find_filter("items")(self, {}); }
Value keys(const Value& self, const CallArgs&) {
  List all;
  for (const auto& entry : self.entries().entries) all.push_back(entry.first);
  return Value::list(std::move(all));
}
Value values(const Value& self, const CallArgs&) {
  List all;
  for (const auto& entry : self.entries().entries) all.push_back(entry.second);
  return Value::list(std::move(all));
}
Value pop_key(const Value& self, const CallArgs& args) {
  if (args.positional.empty()) fail("pop needs an argument");
  const Value* found = self.entries().find(args.positional[0]);
  const Value* fallback = args.get(1, "default");
  if (!found && !fallback) fail("there is no key " + repr(args.positional[0]));
  Value value = found ? *found : *fallback;
  self.entries().erase(args.positional[0]);
  return value;
}
Value update(const Value& self, const CallArgs& args) {
  for (const Value& other : args.positional) {
    if (!other.is_dict()) fail("update needs a mapping");
    for (const auto& [key, value] : other.entries().entries) self.entries().set(key, value);
  }
  for (const auto& [name, value] : args.named) self.entries().set(Value(name), value);
  return {};
}
Value setdefault(const Value& self, const CallArgs& args) {
  if (args.positional.empty()) fail("setdefault needs an argument");
  if (!self.entries().find(args.positional[0]))
    self.entries().set(args.positional[0], args.positional.size() > 1 ? args.positional[1] : Value());
  return *self.entries().find(args.positional[0]);
}
Value copy_dict(const Value& self, const CallArgs&) {
  Value copy = Value::dict();
  for (const auto& [key, value] : self.entries().entries) copy.entries().append(key, value);
  return copy;
}

using Method = Value (*)(const Value& self, const CallArgs& args);
struct Row {
  std::string_view name;
  Method method;
};
constexpr auto kStringMethods = std::to_array<Row>({{"capitalize", to_capital},
                                                    {"count", count},
                                                    {"endswith", endswith},
                                                    {"find", find},
                                                    {"format", format},
                                                    {"isalnum", isalnum},
                                                    {"isalpha", isalpha},
                                                    {"isdigit", isdigit},
                                                    {"islower", islower},
                                                    {"isspace", isspace},
                                                    {"isupper", isupper},
                                                    {"join", join},
                                                    {"ljust", ljust},
                                                    {"lower", to_lower},
                                                    {"lstrip", lstrip},
                                                    {"removeprefix", removeprefix},
                                                    {"removesuffix", removesuffix},
                                                    {"replace", replace},
                                                    {"rfind", rfind},
                                                    {"rjust", rjust},
                                                    {"rsplit", rsplit},
                                                    {"rstrip", rstrip},
                                                    {"split", split},
                                                    {"splitlines", splitlines},
                                                    {"startswith", startswith},
                                                    {"strip", strip_both},
                                                    {"title", to_title},
                                                    {"upper", to_upper},
                                                    {"zfill", zfill}});
constexpr auto kListMethods = std::to_array<Row>({{"append", append},
                                                  {"copy", copy_list},
                                                  {"count", count_items},
                                                  {"extend", extend},
                                                  {"index", index_of},
                                                  {"insert", insert},
                                                  {"pop", pop_item}});
constexpr auto kDictMethods = std::to_array<Row>({{"copy", copy_dict},
                                                  {"get", get},
                                                  {"items", dict_items},
                                                  {"keys", keys},
                                                  {"pop", pop_key},
                                                  {"setdefault", setdefault},
                                                  {"update", update},
                                                  {"values", values}});

std::optional<Value> bound(const Value& value, std::string_view name, auto& methods) {
  const auto row = std::ranges::find(methods, name, &Row::name);
  if (row == methods.end()) return {};
  return Value::function([value, method = row->method](const CallArgs& args) { return method(value, args); });
}

}  // namespace

std::optional<Value> find_method(const Value& value, std::string_view name) {
  if (value.is_string()) return bound(value, name, kStringMethods);
  if (value.is_list()) return bound(value, name, kListMethods);
  if (value.is_dict() && !value.entries().is_namespace) return bound(value, name, kDictMethods);
  return {};
}

}  // namespace genai::jinja
