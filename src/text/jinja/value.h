// A value inside a template, with Python's meaning of truth, equality, order and str().
//
// Lists and dicts are shared by reference, as in Python, and may come to contain themselves: an Arena owns what a
// render makes, and walks over a value stop at kMaxNesting. Strings are UTF-8 and count code points. Threads: a render
// owns its values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace genai::jinja {

inline constexpr int kMaxNesting = 256;

struct Value;
using List = std::vector<Value>;

struct Undefined {
  std::string name;  // for the message when it is used
};
struct None {};

struct Dict;
struct CallArgs;
struct Callable;  // a macro, a global function, a bound method

struct Value {
  // `tuple` is a list that prints with parentheses.
  enum class Sequence { list, tuple };
  struct ListRef {
    std::shared_ptr<List> items;
    Sequence kind = Sequence::list;
  };
  std::variant<Undefined, None, bool, int64_t, double, std::string, ListRef, std::shared_ptr<Dict>,
               std::shared_ptr<Callable>>
      v;

  Value() : v(None{}) {}
  Value(bool b) : v(b) {}                           // NOLINT: values are written as literals all over the interpreter
  Value(int64_t i) : v(i) {}                        // NOLINT
  Value(int i) : v(int64_t{i}) {}                   // NOLINT
  Value(double d) : v(d) {}                         // NOLINT
  Value(std::string s) : v(std::move(s)) {}         // NOLINT
  Value(std::string_view s) : v(std::string(s)) {}  // NOLINT
  Value(const char* s) : v(std::string(s)) {}       // NOLINT
  static Value undefined(std::string name) { return Value(Undefined{std::move(name)}); }
  static Value list(List items, Sequence kind = Sequence::list);
  static Value dict();
  static Value function(std::function<Value(const CallArgs&)> call);
  static Value from_json(const nlohmann::ordered_json& json);

  bool is_undefined() const { return std::holds_alternative<Undefined>(v); }
  bool is_none() const { return std::holds_alternative<None>(v); }
  bool is_bool() const { return std::holds_alternative<bool>(v); }
  bool is_int() const { return std::holds_alternative<int64_t>(v); }
  bool is_float() const { return std::holds_alternative<double>(v); }
  bool is_number() const { return is_int() || is_float() || is_bool(); }
  bool is_string() const { return std::holds_alternative<std::string>(v); }
  bool is_list() const { return std::holds_alternative<ListRef>(v); }
  bool is_dict() const { return std::holds_alternative<std::shared_ptr<Dict>>(v); }
  bool is_callable() const { return std::holds_alternative<std::shared_ptr<Callable>>(v); }

  int64_t integer() const;  // of a number
  double number() const;
  const std::string& string() const { return std::get<std::string>(v); }
  List& items() const { return *std::get<ListRef>(v).items; }
  Dict& entries() const { return *std::get<std::shared_ptr<Dict>>(v); }

  bool truth() const;
  const char* type_name() const;  // "str", "int", …

 private:
  explicit Value(Undefined u) : v(std::move(u)) {}
  explicit Value(ListRef l) : v(std::move(l)) {}
  explicit Value(std::shared_ptr<Dict> d) : v(std::move(d)) {}
  explicit Value(std::shared_ptr<Callable> c) : v(std::move(c)) {}
};

// In insertion order. A namespace() is a dict whose attributes may be set.
struct Dict {
  std::vector<std::pair<Value, Value>> entries;
  bool is_namespace = false;
  Value* find(const Value& key);
  const Value* find(std::string_view key) const;
  void set(Value key, Value value);
  void append(Value key, Value value);  // the key is known to be new
  void erase(const Value& key);
};

struct CallArgs {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
  // Argument i, or the one named so, or null.
  const Value* get(size_t i, std::string_view name) const;
};

struct Callable {
  std::function<Value(const CallArgs&)> call;
};

bool equal(const Value& a, const Value& b);
// −1, 0, 1; throws Error when Python would refuse the order.
int order(const Value& a, const Value& b);
bool contains(const Value& container, const Value& item);

std::string to_string(const Value& value);  // str(): what {{ }} prints
std::string repr(const Value& value);       // as an element of a printed list

struct JsonStyle {
  bool ascii = false, sort_keys = false;
  int indent = -1;  // −1: one line
  std::string item_separator = ", ", key_separator = ": ";
};
std::string to_json(const Value& value, const JsonStyle& style);  // json.dumps

// Code points of a UTF-8 string, each as its bytes; invalid bytes stand alone.
std::vector<std::string_view> code_points(std::string_view text);

// Owns every list, dict and function made while it lives (one per render and thread), so that neither a cycle leaks nor
// a deep nesting recurses when it goes. Refuses more than kMaxElements.
class Arena {
 public:
  static constexpr int64_t kMaxElements = 4'000'000;
  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  static Arena& current();
  void keep(std::shared_ptr<List> list);
  void keep(std::shared_ptr<Dict> dict) { dicts_.push_back(std::move(dict)); }
  void keep(std::shared_ptr<Callable> callable) { callables_.push_back(std::move(callable)); }
  void count(size_t elements);

 private:
  Arena* before_;
  int64_t elements_ = 0;
  std::vector<std::shared_ptr<List>> lists_;
  std::vector<std::shared_ptr<Dict>> dicts_;
  std::vector<std::shared_ptr<Callable>> callables_;
};

// One level of a walk over a value; throws past kMaxNesting.
class Descent {
 public:
  Descent();
  ~Descent();
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;
};

// Where the render of this thread is: what `fail` names. Set by the interpreter as it goes.
struct Position {
  const std::string* where = nullptr;
  int line = 1, column = 1;
};
Position& position();

// Throws Error{invalid_argument} at position().
[[noreturn]] void fail(const std::string& message);

}  // namespace genai::jinja
