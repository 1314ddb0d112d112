#include "text/jinja/value.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace genai::jinja {

namespace {

thread_local Arena* current_arena = nullptr;
thread_local int descended = 0;

Value from_json_at(const nlohmann::ordered_json& json) {
  const Descent level;
  if (json.is_null() || json.is_discarded()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get_ref<const std::string&>();
  if (json.is_array()) {
    List items;
    for (const auto& item : json) items.push_back(from_json_at(item));
    return Value::list(std::move(items));
  }
  Value object = Value::dict();
  for (const auto& [key, item] : json.items()) object.entries().append(Value(key), from_json_at(item));
  return object;
}

}  // namespace

Position& position() {
  thread_local Position here;
  return here;
}

void fail(const std::string& message) {
  const Position& here = position();
  std::string at;
  if (here.where) at = *here.where + ":" + std::to_string(here.line) + ":" + std::to_string(here.column);
  throw nxrt::Error(nxrt::Code::invalid_argument, message, at);
}

Arena::Arena() : before_(current_arena) { current_arena = this; }

// Everything is emptied while the arena still owns it: no destructor reaches another one's content.
Arena::~Arena() {
  for (const auto& list : lists_) list->clear();
  for (const auto& dict : dicts_) dict->entries.clear();
  for (const auto& callable : callables_) callable->call = nullptr;
  current_arena = before_;
}

Arena& Arena::current() { return *current_arena; }

void Arena::keep(std::shared_ptr<List> list) {
  count(list->size());
  lists_.push_back(std::move(list));
}

void Arena::count(size_t elements) {
  elements_ += static_cast<int64_t>(elements) + 1;
  if (elements_ > kMaxElements) fail("the template makes more than " + std::to_string(kMaxElements) + " values");
}

Descent::Descent() {
  if (++descended <= kMaxNesting) return;
  --descended;
  fail("lists and mappings are nested more than " + std::to_string(kMaxNesting) + " deep");
}
Descent::~Descent() { --descended; }

Value Value::list(List items, Sequence kind) {
  auto made = std::make_shared<List>(std::move(items));
  Arena::current().keep(made);
  return Value(ListRef{std::move(made), kind});
}

Value Value::dict() {
  auto made = std::make_shared<Dict>();
  Arena::current().keep(made);
  return Value(std::move(made));
}

Value Value::function(std::function<Value(const CallArgs&)> call) {
  auto made = std::make_shared<Callable>(Callable{std::move(call)});
  Arena::current().keep(made);
  return Value(std::move(made));
}

Value Value::from_json(const nlohmann::ordered_json& json) { return from_json_at(json); }

int64_t Value::integer() const {
  if (is_bool()) return std::get<bool>(v) ? 1 : 0;
  if (is_int()) return std::get<int64_t>(v);
  if (is_float()) return static_cast<int64_t>(std::get<double>(v));
  fail(std::string("a number was expected, got ") + type_name());
}

double Value::number() const {
  if (is_float()) return std::get<double>(v);
  return static_cast<double>(integer());
}

bool Value::truth() const {
  if (is_undefined() || is_none()) return false;
  if (is_bool()) return std::get<bool>(v);
  if (is_int()) return std::get<int64_t>(v) != 0;
  if (is_float()) return std::get<double>(v) != 0;
  if (is_string()) return !string().empty();
  if (is_list()) return !items().empty();
  if (is_dict()) return entries().is_namespace || !entries().entries.empty();
  return true;
}

const char* Value::type_name() const {
  if (is_undefined()) return "undefined";
  if (is_none()) return "None";
  if (is_bool()) return "bool";
  if (is_int()) return "int";
  if (is_float()) return "float";
  if (is_string()) return "str";
  if (is_list()) return std::get<ListRef>(v).kind == Sequence::list ? "list" : "tuple";
  if (is_dict()) return entries().is_namespace ? "namespace" : "dict";
  return "function";
}

Value* Dict::find(const Value& key) {
  const auto found = std::ranges::find_if(entries, [&](const auto& entry) { return equal(entry.first, key); });
  return found == entries.end() ? nullptr : &found->second;
}

const Value* Dict::find(std::string_view key) const {
  const auto found = std::ranges::find_if(
      entries, [&](const auto& entry) { return entry.first.is_string() && entry.first.string() == key; });
  return found == entries.end() ? nullptr : &found->second;
}

void Dict::set(Value key, Value value) {
  if (Value* old = find(key)) {
    *old = std::move(value);
  } else {
    append(std::move(key), std::move(value));
  }
}

void Dict::append(Value key, Value value) {
  Arena::current().count(1);
  entries.emplace_back(std::move(key), std::move(value));
}

void Dict::erase(const Value& key) {
  std::erase_if(entries, [&](const auto& entry) { return equal(entry.first, key); });
}

const Value* CallArgs::get(size_t i, std::string_view name) const {
  if (i < positional.size()) return &positional[i];
  const auto found = std::ranges::find_if(named, [&](const auto& entry) { return entry.first == name; });
  return found == named.end() ? nullptr : &found->second;
}

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_float() || b.is_float() ? a.number() == b.number() : a.integer() == b.integer();
  }
  if (a.v.index() != b.v.index()) return false;
  const Descent level;
  if (a.is_string()) return a.string() == b.string();
  if (a.is_list()) return std::ranges::equal(a.items(), b.items(), equal);
  if (a.is_dict()) {
    Dict &x = a.entries(), &y = b.entries();
    return x.entries.size() == y.entries.size() && std::ranges::all_of(x.entries, [&](const auto& entry) {
             const Value* other = y.find(entry.first);
             return other && equal(entry.second, *other);
           });
  }
  if (a.is_callable()) return std::get<std::shared_ptr<Callable>>(a.v) == std::get<std::shared_ptr<Callable>>(b.v);
  return true;  // None, undefined
}

int order(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_float() || b.is_float()) return a.number() < b.number() ? -1 : a.number() > b.number() ? 1 : 0;
    return a.integer() < b.integer() ? -1 : a.integer() > b.integer() ? 1 : 0;
  }
  if (a.is_string() && b.is_string()) {
    const int c = a.string().compare(b.string());  // UTF-8 sorts as its code points do
    return c < 0 ? -1 : c > 0 ? 1 : 0;
  }
  if (a.is_list() && b.is_list()) {
    const Descent level;
    for (size_t i = 0; i < std::min(a.items().size(), b.items().size()); ++i) {
      if (!equal(a.items()[i], b.items()[i])) return order(a.items()[i], b.items()[i]);
    }
    return a.items().size() < b.items().size() ? -1 : a.items().size() > b.items().size() ? 1 : 0;
  }
  fail(std::string("can't order ") + a.type_name() + " and " + b.type_name());
}

bool contains(const Value& container, const Value& item) {
  if (container.is_undefined()) return false;
  if (container.is_string()) {
    if (!item.is_string()) fail(std::string("'in <string>' needs a string on the left, got ") + item.type_name());
    return container.string().find(item.string()) != std::string::npos;
  }
  if (container.is_list())
    return std::ranges::any_of(container.items(), [&](const Value& v) { return equal(v, item); });
  if (container.is_dict()) return container.entries().find(item) != nullptr;
  fail(std::string("can't look for something in ") + container.type_name());
}

std::vector<std::string_view> code_points(std::string_view text) {
  std::vector<std::string_view> points;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    length = std::min(length, text.size() - i);
    points.push_back(text.substr(i, length));
    i += length;
  }
  return points;
}

}  // namespace genai::jinja
