// Jinja's filters.
#include <algorithm>
#include <array>
#include <cmath>

#include "text/jinja/builtins.h"

namespace genai::jinja {
namespace {

const std::string& text_of(const Value& value, const char* filter) {
  if (!value.is_string()) fail(std::string(filter) + " needs a string, got " + value.type_name());
  return value.string();
}

int64_t integer_or(const CallArgs& args, size_t i, std::string_view name, int64_t fallback) {
  const Value* value = args.get(i, name);
  return value && !value->is_none() ? value->integer() : fallback;
}

std::string string_or(const CallArgs& args, size_t i, std::string_view name, const std::string& fallback) {
  const Value* value = args.get(i, name);
  return value && !value->is_none() ? to_string(*value) : fallback;
}

bool flag(const CallArgs& args, size_t i, std::string_view name, bool fallback) {
  const Value* value = args.get(i, name);
  return value ? value->truth() : fallback;
}

Value length(const Value& value, const CallArgs&) {
  if (value.is_undefined()) return 0;
  if (value.is_string()) return static_cast<int64_t>(code_points(value.string()).size());
  if (value.is_list()) return static_cast<int64_t>(value.items().size());
  if (value.is_dict()) return static_cast<int64_t>(value.entries().entries.size());
  fail(std::string("a ") + value.type_name() + " has no length");
}

Value trim(const Value& value, const CallArgs& args) {
  const Value* characters = args.get(0, "chars");
  const std::string text = to_string(value);
  return strip(text, characters ? std::optional<std::string_view>(characters->string()) : std::nullopt, true, true);
}

Value default_value(const Value& value, const CallArgs& args) {
  const Value* fallback = args.get(0, "default_value");
  const bool replace = value.is_undefined() || (flag(args, 1, "boolean", false) && !value.truth());
  return replace ? (fallback ? *fallback : Value("")) : value;
}

Value tojson(const Value& value, const CallArgs& args) {
  if (value.is_undefined())
    fail("'" + std::get<Undefined>(value.v).name + "' is undefined and can't be written as JSON");
  JsonStyle style;
  style.ascii = flag(args, 0, "ensure_ascii", false);
  style.indent = static_cast<int>(std::clamp<int64_t>(integer_or(args, 1, "indent", -1), -1, 64));
  style.sort_keys = flag(args, 3, "sort_keys", false);
  if (const Value* separators = args.get(2, "separators");
      separators && separators->is_list() && separators->items().size() == 2) {
    style.item_separator = to_string(separators->items()[0]);
    style.key_separator = to_string(separators->items()[1]);
  }
  // tojson(4): the first positional is the indent in Jinja's own signature, and templates are written for both.
  if (!args.positional.empty() && args.positional[0].is_int()) {
    style.ascii = false;
    style.indent = static_cast<int>(std::clamp<int64_t>(args.positional[0].integer(), -1, 64));
  }
  return to_json(value, style);
}

Value as_list(const Value& value, const CallArgs&) { return Value::list(iterate(value)); }

Value items(const Value& value, const CallArgs&) {
  if (value.is_undefined()) return Value::list({});
  if (!value.is_dict()) fail(std::string("items needs a mapping, got ") + value.type_name());
  List pairs;
  for (const auto& [key, item] : value.entries().entries)
    pairs.push_back(Value::list({key, item}, Value::Sequence::tuple));
  return Value::list(std::move(pairs));
}

// Case-insensitive unless asked otherwise, as Jinja sorts.
Value sort_key(const Value& value, bool case_sensitive) {
  return value.is_string() && !case_sensitive ? Value(lower(value.string())) : value;
}

Value dictsort(const Value& value, const CallArgs& args) {
  List pairs = items(value, {}).items();
  const bool case_sensitive = flag(args, 0, "case_sensitive", false), reverse = flag(args, 2, "reverse", false);
  const size_t by = string_or(args, 1, "by", "key") == "value" ? 1 : 0;
  std::ranges::stable_sort(pairs, [&](const Value& a, const Value& b) {
    const int c = order(sort_key(a.items()[by], case_sensitive), sort_key(b.items()[by], case_sensitive));
    return reverse ? c > 0 : c < 0;
  });
  return Value::list(std::move(pairs));
}

Value sort(const Value& value, const CallArgs& args) {
  List sorted = iterate(value);
  const bool reverse = flag(args, 0, "reverse", false), case_sensitive = flag(args, 1, "case_sensitive", false);
  const std::string attribute = string_or(args, 2, "attribute", "");
  const auto key = [&](const Value& v) {
    return sort_key(attribute.empty() ? v : attribute_path(v, attribute), case_sensitive);
  };
  std::ranges::stable_sort(sorted, [&](const Value& a, const Value& b) {
    const int c = order(key(a), key(b));
    return reverse ? c > 0 : c < 0;
  });
  return Value::list(std::move(sorted));
}

Value unique(const Value& value, const CallArgs& args) {
  const bool case_sensitive = flag(args, 0, "case_sensitive", false);
  const std::string attribute = string_or(args, 1, "attribute", "");
  List seen, kept;
  for (const Value& item : iterate(value)) {
    const Value key = sort_key(attribute.empty() ? item : attribute_path(item, attribute), case_sensitive);
    if (std::ranges::any_of(seen, [&](const Value& s) { return equal(s, key); })) continue;
    seen.push_back(key);
    kept.push_back(item);
  }
  return Value::list(std::move(kept));
}

Value join(const Value& value, const CallArgs& args) {
  const std::string separator = string_or(args, 0, "d", ""), attribute = string_or(args, 1, "attribute", "");
  std::string all;
  bool first = true;
  for (const Value& item : iterate(value)) {
    if (!first) all += separator;
    first = false;
    all += to_string(attribute.empty() ? item : attribute_path(item, attribute));
  }
  return all;
}

Value first(const Value& value, const CallArgs&) {
  const List all = iterate(value);
  return all.empty() ? Value::undefined("the first item of an empty sequence") : all.front();
}

Value last(const Value& value, const CallArgs&) {
  const List all = iterate(value);
  return all.empty() ? Value::undefined("the last item of an empty sequence") : all.back();
}

CallArgs without_first(const CallArgs& args) {
  CallArgs rest{.positional = {}, .named = args.named};
  if (!args.positional.empty()) rest.positional.assign(args.positional.begin() + 1, args.positional.end());
  return rest;
}

Value map(const Value& value, const CallArgs& args) {
  if (value.is_none()) return Value::list({});
  const Value* attribute = args.get(SIZE_MAX, "attribute");
  const Value* fallback = args.get(SIZE_MAX, "default");
  FilterFunction filter = nullptr;
  if (!attribute) {
    if (args.positional.empty()) fail("map needs attribute=… or the name of a filter");
    filter = find_filter(to_string(args.positional[0]));
    if (!filter) fail("there is no filter '" + to_string(args.positional[0]) + "'");
  }
  List mapped;
  for (const Value& item : iterate(value)) {
    Value result = attribute ? attribute_path(item, to_string(*attribute)) : filter(item, without_first(args));
    if (result.is_undefined() && fallback) result = *fallback;
    mapped.push_back(std::move(result));
  }
  return Value::list(std::move(mapped));
}

// select, reject, selectattr, rejectattr: keep the items for which the test (default: truth) answers `wanted`.
Value choose(const Value& value, const CallArgs& args, bool by_attribute, bool wanted) {
  if (value.is_none()) return Value::list({});
  CallArgs rest = args;
  std::string attribute;
  if (by_attribute) {
    if (rest.positional.empty()) fail("the name of an attribute is missing");
    attribute = to_string(rest.positional[0]);
    rest = without_first(rest);
  }
  TestFunction test = nullptr;
  if (!rest.positional.empty()) {
    test = find_test(to_string(rest.positional[0]));
    if (!test) fail("there is no test '" + to_string(rest.positional[0]) + "'");
    rest = without_first(rest);
  }
  List kept;
  for (const Value& item : iterate(value)) {
    const Value subject = by_attribute ? attribute_path(item, attribute) : item;
    if ((test ? test(subject, rest) : subject.truth()) == wanted) kept.push_back(item);
  }
  return Value::list(std::move(kept));
}

Value select(const Value& value, const CallArgs& args) { return choose(value, args, false, true); }
Value reject(const Value& value, const CallArgs& args) { return choose(value, args, false, false); }
Value selectattr(const Value& value, const CallArgs& args) { return choose(value, args, true, true); }
Value rejectattr(const Value& value, const CallArgs& args) { return choose(value, args, true, false); }

Value reverse(const Value& value, const CallArgs&) {
  if (value.is_string()) return slice(value, {}, {}, -1);
  List all = iterate(value);
  std::ranges::reverse(all);
  return Value::list(std::move(all));
}

Value replace(const Value& value, const CallArgs& args) {
  return replace_all(to_string(value), string_or(args, 0, "old", ""), string_or(args, 1, "new", ""),
                     integer_or(args, 2, "count", -1));
}

Value indent(const Value& value, const CallArgs& args) {
  const Value* width = args.get(0, "width");
  const std::string pad =
      width && width->is_string()
          ? width->string()
          : std::string(static_cast<size_t>(std::clamp<int64_t>(integer_or(args, 0, "width", 4), 0, 1024)), ' ');
  const bool first_line = flag(args, 1, "first", false), blank = flag(args, 2, "blank", false);
  const std::string text = text_of(value, "indent");
  std::string all;
  size_t begin = 0;
  for (bool first = true; begin <= text.size(); first = false) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (!first) all += '\n';
    if (first ? first_line : blank || !line.empty()) all += pad;
    all += line;
    begin = end + 1;
  }
  return all;
}

Value as_int(const Value& value, const CallArgs& args) {
  if (value.is_number()) return value.integer();
  const Value fallback = args.get(0, "default") ? *args.get(0, "default") : Value(0);
  if (!value.is_string()) return fallback;
  const std::string text = strip(value.string(), {}, true, true);
  const int base = static_cast<int>(integer_or(args, 1, "base", 10));
  char* end = nullptr;
  const int64_t number = std::strtoll(text.c_str(), &end, base);
  if (end != text.c_str() && *end == 0) return number;
  const double real = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == 0 && std::fabs(real) < 9e18 ? Value(static_cast<int64_t>(real)) : fallback;
}

Value as_float(const Value& value, const CallArgs& args) {
  if (value.is_number()) return value.number();
  const Value fallback = args.get(0, "default") ? *args.get(0, "default") : Value(0.0);
  if (!value.is_string()) return fallback;
  const std::string text = strip(value.string(), {}, true, true);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == 0 ? Value(number) : fallback;
}

Value absolute(const Value& value, const CallArgs&) {
  return value.is_float() ? Value(std::fabs(value.number())) : Value(std::abs(value.integer()));
}

Value round_to(const Value& value, const CallArgs& args) {
  const double scale = std::pow(10.0, static_cast<double>(integer_or(args, 0, "precision", 0)));
  const std::string method = string_or(args, 1, "method", "common");
  const double scaled = value.number() * scale;
  if (method == "ceil") return std::ceil(scaled) / scale;
  if (method == "floor") return std::floor(scaled) / scale;
  return std::nearbyint(scaled) / scale;
}

Value extreme(const Value& value, const CallArgs& args, int sign) {
  const std::string attribute = string_or(args, 1, "attribute", "");
  const auto key = [&](const Value& v) {
    return sort_key(attribute.empty() ? v : attribute_path(v, attribute), flag(args, 0, "case_sensitive", false));
  };
  const List all = iterate(value);
  if (all.empty()) return Value::undefined("an item of an empty sequence");
  const Value* best = &all[0];
  for (const Value& item : all) {
    if (order(key(item), key(*best)) * sign > 0) best = &item;
  }
  return *best;
}
Value maximum(const Value& value, const CallArgs& args) { return extreme(value, args, 1); }
Value minimum(const Value& value, const CallArgs& args) { return extreme(value, args, -1); }

Value sum(const Value& value, const CallArgs& args) {
  const std::string attribute = string_or(args, 0, "attribute", "");
  double real = 0;
  int64_t whole = 0;
  bool is_real = false;
  for (const Value& item : iterate(value)) {
    const Value number = attribute.empty() ? item : attribute_path(item, attribute);
    is_real = is_real || number.is_float();
    real += number.number();
    whole += number.is_float() ? 0 : number.integer();
  }
  return is_real ? Value(real) : Value(whole);
}

Value batch(const Value& value, const CallArgs& args) {
  const int64_t size = integer_or(args, 0, "linecount", 1);
  if (size < 1) fail("batch needs a positive size");
  const Value* fill = args.get(1, "fill_with");
  List rows, row;
  for (const Value& item : iterate(value)) {
    row.push_back(item);
    if (static_cast<int64_t>(row.size()) == size) rows.push_back(Value::list(std::move(row))), row.clear();
  }
  if (!row.empty()) {
    if (fill) row.resize(static_cast<size_t>(size), *fill);
    rows.push_back(Value::list(std::move(row)));
  }
  return Value::list(std::move(rows));
}

Value escape(const Value& value, const CallArgs&) {
  std::string all;
  for (const char c : to_string(value)) {
    if (c == '&')
      all += "&amp;";
    else if (c == '<')
      all += "&lt;";
    else if (c == '>')
      all += "&gt;";
    else if (c == '"')
      all += "&#34;";
    else if (c == '\'')
      all += "&#39;";
    else
      all += c;
  }
  return all;
}

Value wordcount(const Value& value, const CallArgs&) {
  int64_t words = 0;
  bool inside = false;
  for (const unsigned char c : to_string(value)) {
    const bool letter = std::isalnum(c) || c == '_' || c >= 0x80;
    words += letter && !inside;
    inside = letter;
  }
  return words;
}

Value upper_filter(const Value& value, const CallArgs&) { return upper(to_string(value)); }
Value lower_filter(const Value& value, const CallArgs&) { return lower(to_string(value)); }
Value capitalize_filter(const Value& value, const CallArgs&) { return capitalize(to_string(value)); }
Value title_filter(const Value& value, const CallArgs&) { return title(to_string(value)); }
Value string_filter(const Value& value, const CallArgs&) { return to_string(value); }
Value same(const Value& value, const CallArgs&) { return value; }
Value attr(const Value& value, const CallArgs& args) { return attribute_path(value, string_or(args, 0, "name", "")); }

struct Row {
  std::string_view name;
  FilterFunction function;
};
constexpr auto kFilters = std::to_array<Row>({{"abs", absolute},
                                              {"attr", attr},
                                              {"batch", batch},
                                              {"capitalize", capitalize_filter},
                                              {"count", length},
                                              {"d", default_value},
                                              {"default", default_value},
                                              {"dictsort", dictsort},
                                              {"e", escape},
                                              {"escape", escape},
                                              {"first", first},
                                              {"float", as_float},
                                              {"indent", indent},
                                              {"int", as_int},
                                              {"items", items},
                                              {"join", join},
                                              {"last", last},
                                              {"length", length},
                                              {"list", as_list},
                                              {"lower", lower_filter},
                                              {"map", map},
                                              {"max", maximum},
                                              {"min", minimum},
                                              {"reject", reject},
                                              {"rejectattr", rejectattr},
                                              {"replace", replace},
                                              {"reverse", reverse},
                                              {"round", round_to},
                                              {"safe", same},
                                              {"select", select},
                                              {"selectattr", selectattr},
                                              {"sort", sort},
                                              {"string", string_filter},
                                              {"sum", sum},
                                              {"title", title_filter},
                                              {"tojson", tojson},
                                              {"trim", trim},
                                              {"unique", unique},
                                              {"upper", upper_filter},
                                              {"wordcount", wordcount}});

}  // namespace

FilterFunction find_filter(std::string_view name) {
  const auto row = std::ranges::find(kFilters, name, &Row::name);
  return row == kFilters.end() ? nullptr : row->function;
}

}  // namespace genai::jinja
