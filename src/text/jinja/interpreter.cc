#include "text/jinja/interpreter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/error.h"
#include "text/jinja/builtins.h"

namespace genai::jinja {
namespace {

// Names visible at a point: a chain of scopes. `if` opens none; `for`, macros and set-blocks do.
struct Scope {
  explicit Scope(Scope* enclosing) : outer(enclosing) {}
  Value* find(const std::string& name) {
    for (Scope* scope = this; scope; scope = scope->outer) {
      const auto found = scope->names.find(name);
      if (found != scope->names.end()) return &found->second;
    }
    return nullptr;
  }
  Scope* outer;
  std::map<std::string, Value> names;
};

enum class Flow { normal, brk, cont };

class Interpreter {
 public:
  Interpreter(const Value& variables, const std::string& where) : where_(where), globals_(nullptr), top_(&globals_) {
    add_functions();
    for (const auto& [name, value] : variables.entries().entries) globals_.names[to_string(name)] = value;
  }

  std::string run(const Body& program) {
    scope_ = &top_;
    std::string out;
    execute(program, out);
    return out;
  }

 private:
  // ---- errors name the expression being evaluated

  void at(Place place) {
    place_ = place;
    position() = {&where_, place.line, place.column};
  }

  [[noreturn]] void error(const std::string& message, Place place) const {
    throw nxrt::Error(nxrt::Code::invalid_argument, message, place_text(where_, place));
  }

  void count_step(Place place) {
    if (++steps_ > kMaxSteps) error("the template does not come to an end", place);
  }

  // ---- functions every template has

  void add_functions() {
    auto& names = globals_.names;
    names["raise_exception"] = Value::function([this](const CallArgs& args) -> Value {
      error(args.positional.empty() ? "the template refused the input" : to_string(args.positional[0]), place_);
    });
    names["strftime_now"] = Value::function([this](const CallArgs& args) -> Value {
      if (args.positional.empty()) error("strftime_now needs a format", place_);
      return strftime_now(to_string(args.positional[0]));
    });
    names["range"] = Value::function([this](const CallArgs& args) { return range(args); });
    names["dict"] = Value::function([](const CallArgs& args) { return record(args, false); });
    names["namespace"] = Value::function([](const CallArgs& args) { return record(args, true); });
  }

  Value range(const CallArgs& args) const {
    const auto& given = args.positional;
    if (given.empty() || given.size() > 3) error("range takes one to three numbers", place_);
    const int64_t begin = given.size() > 1 ? given[0].integer() : 0, end = given[given.size() > 1 ? 1 : 0].integer();
    const int64_t step = given.size() > 2 ? given[2].integer() : 1;
    if (step == 0) error("range's step is zero", place_);
    List all;
    for (int64_t i = begin; step > 0 ? i < end : i > end; i += step) {
      if (static_cast<int64_t>(all.size()) >= 1'000'000) error("a range of more than 1000000 items", place_);
      all.emplace_back(i);
    }
    return Value::list(std::move(all));
  }

  static Value record(const CallArgs& args, bool is_namespace) {
    Value value = Value::dict();
    value.entries().is_namespace = is_namespace;
    for (const Value& other : args.positional) {
      if (other.is_dict()) {
        for (const auto& [key, item] : other.entries().entries) value.entries().set(key, item);
      }
    }
    for (const auto& [name, item] : args.named) value.entries().set(Value(name), item);
    return value;
  }

  // ---- statements

  Flow execute(const Body& body, std::string& out) {
    for (const auto& stmt : body) {
      count_step(stmt->place);
      const Flow flow = execute(*stmt, out);
      if (flow != Flow::normal) return flow;
      if (out.size() > kMaxOutput) error("the template's output is too large", stmt->place);
    }
    return Flow::normal;
  }

  Flow execute(const Stmt& stmt, std::string& out) {
    switch (stmt.kind) {
      case Stmt::Kind::text: out += stmt.text; break;
      case Stmt::Kind::output: out += to_string(evaluate(*stmt.expr)); break;
      case Stmt::Kind::condition: return execute(evaluate(*stmt.expr).truth() ? stmt.body : stmt.otherwise, out);
      case Stmt::Kind::loop: loop(stmt, out); break;
      case Stmt::Kind::assign: assign(stmt); break;
      case Stmt::Kind::macro: scope_->names[stmt.text] = macro(stmt); break;
      case Stmt::Kind::filter_block: out += to_string(evaluate_filters(*stmt.filter, captured(stmt.body))); break;
      case Stmt::Kind::call_block: out += call_with_block(stmt); break;
      case Stmt::Kind::brk: return Flow::brk;
      case Stmt::Kind::cont: return Flow::cont;
    }
    return Flow::normal;
  }

  struct Entered {  // a scope for as long as this lives
    Entered(Interpreter& interpreter, Scope& scope) : owner(interpreter), before(interpreter.scope_) {
      owner.scope_ = &scope;
    }
    ~Entered() { owner.scope_ = before; }
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;
    Interpreter& owner;
    Scope* before;
  };

  Value captured(const Body& body) {
    Scope scope(scope_);
    const Entered entered(*this, scope);
    std::string text;
    execute(body, text);
    return text;
  }

  void bind(const std::vector<ExprPtr>& targets, const Value& value, Place place) {
    if (targets.size() == 1) return bind(*targets[0], value);
    const List parts = iterate(value);
    if (parts.size() != targets.size()) {
      error(
          "can't unpack " + std::to_string(parts.size()) + " values into " + std::to_string(targets.size()) + " names",
          place);
    }
    for (size_t i = 0; i < parts.size(); ++i) bind(*targets[i], parts[i]);
  }

  void bind(const Expr& target, const Value& value) {
    if (target.kind == Expr::Kind::name) {
      scope_->names[target.name] = value;
      return;
    }
    Value object = evaluate(*target.args[0]);
    if (!object.is_dict() || !object.entries().is_namespace)
      error("only a namespace()'s attributes can be set", target.place);
    object.entries().set(Value(target.name), value);
  }

  void assign(const Stmt& stmt) {
    if (stmt.targets.empty()) {  // {% do … %}
      evaluate(*stmt.expr);
      return;
    }
    Value value = stmt.expr ? evaluate(*stmt.expr) : captured(stmt.body);
    if (stmt.filter) value = evaluate_filters(*stmt.filter, std::move(value));
    bind(stmt.targets, value, stmt.place);
  }

  void loop(const Stmt& stmt, std::string& out) {
    at(stmt.place);
    List items = iterate_at(evaluate(*stmt.expr), stmt.place);
    if (stmt.filter) items = filtered(stmt, items);
    if (items.empty()) {
      execute(stmt.otherwise, out);
      return;
    }
    Value changed = Value::dict();
    for (size_t i = 0; i < items.size(); ++i) {
      count_step(stmt.place);
      Scope scope(scope_);
      const Entered entered(*this, scope);
      bind(stmt.targets, items[i], stmt.place);
      scope.names["loop"] = loop_record(items, i, changed);
      if (execute(stmt.body, out) == Flow::brk) break;
      if (out.size() > kMaxOutput) error("the template's output is too large", stmt.place);
    }
  }

  List filtered(const Stmt& stmt, const List& items) {
    List kept;
    for (const Value& item : items) {
      Scope scope(scope_);
      const Entered entered(*this, scope);
      bind(stmt.targets, item, stmt.place);
      if (evaluate(*stmt.filter).truth()) kept.push_back(item);
    }
    return kept;
  }

  static Value loop_record(const List& items, size_t i, const Value& changed) {
    const auto index = static_cast<int64_t>(i), length = static_cast<int64_t>(items.size());
    Value record = Value::dict();
    record.entries().is_namespace = true;
    record.entries().entries = {
        {"index", index + 1},
        {"index0", index},
        {"revindex", length - index},
        {"revindex0", length - index - 1},
        {"first", index == 0},
        {"last", index + 1 == length},
        {"length", length},
        {"depth", 1},
        {"depth0", 0},
        {"previtem", i > 0 ? items[i - 1] : Value::undefined("there is no previous item")},
        {"nextitem", i + 1 < items.size() ? items[i + 1] : Value::undefined("there is no next item")}};
    record.entries().set("cycle", Value::function([index](const CallArgs& args) -> Value {
                           if (args.positional.empty()) fail("cycle needs values");
                           return args.positional[static_cast<size_t>(index) % args.positional.size()];
                         }));
    record.entries().set("changed", Value::function([changed](const CallArgs& args) -> Value {
                           const Value now = Value::list(args.positional);
                           const Value* before = changed.entries().find("value");
                           const bool differs = !before || !equal(*before, now);
                           changed.entries().set("value", now);
                           return differs;
                         }));
    return record;
  }

  // ---- macros

  Value macro(const Stmt& stmt) {
    return Value::function([this, &stmt](const CallArgs& args) { return Value(call_macro(stmt, args, &top_)); });
  }

  std::string call_macro(const Stmt& stmt, const CallArgs& args, Scope* outer) {
    if (++calls_ > kMaxCalls)
      error("macros call each other more than " + std::to_string(kMaxCalls) + " deep", stmt.place);
    Scope scope(outer);
    const Entered entered(*this, scope);
    if (args.positional.size() > stmt.parameters.size())
      error("the macro '" + stmt.text + "' takes at most " + std::to_string(stmt.parameters.size()) + " arguments",
            place_);
    for (size_t i = 0; i < stmt.parameters.size(); ++i) {
      const Parameter& parameter = stmt.parameters[i];
      const Value* given = args.get(i, parameter.name);
      scope.names[parameter.name] = given                ? *given
                                    : parameter.fallback ? evaluate(*parameter.fallback)
                                                         : Value::undefined(parameter.name);
    }
    for (const auto& [name, value] : args.named) {
      if (name == "caller")
        scope.names["caller"] = value;
      else if (std::ranges::none_of(stmt.parameters, [&](const Parameter& p) { return p.name == name; }))
        error("the macro '" + stmt.text + "' has no parameter '" + name + "'", place_);
    }
    std::string text;
    execute(stmt.body, text);
    --calls_;
    return text;
  }

  std::string call_with_block(const Stmt& stmt) {
    Scope* here = scope_;
    const Value caller =
        Value::function([this, &stmt, here](const CallArgs& args) { return Value(call_macro(stmt, args, here)); });
    const Value function = evaluate(*stmt.expr->args[0]);
    CallArgs args = arguments(*stmt.expr);
    args.named.emplace_back("caller", caller);
    return to_string(call(function, args, *stmt.expr));
  }

  // ---- expressions

  Value evaluate(const Expr& expr) {
    at(expr.place);
    switch (expr.kind) {
      case Expr::Kind::constant: return expr.constant;
      case Expr::Kind::name: return name(expr);
      case Expr::Kind::list:
      case Expr::Kind::tuple: return sequence(expr);
      case Expr::Kind::dict: return dict(expr);
      case Expr::Kind::attribute: return attribute(evaluate(*expr.args[0]), expr);
      case Expr::Kind::item: return item(expr);
      case Expr::Kind::slice: return sliced(expr);
      case Expr::Kind::call: return call(evaluate(*expr.args[0]), arguments(expr), expr);
      case Expr::Kind::filter: return evaluate_filters(expr, {});
      case Expr::Kind::test: return test(expr);
      case Expr::Kind::unary: return unary(expr);
      case Expr::Kind::binary: return binary(expr.ops[0], evaluate(*expr.args[0]), evaluate(*expr.args[1]), expr.place);
      case Expr::Kind::compare: return compare(expr);
      case Expr::Kind::both: {
        Value left = evaluate(*expr.args[0]);
        return left.truth() ? evaluate(*expr.args[1]) : left;
      }
      case Expr::Kind::either: {
        Value left = evaluate(*expr.args[0]);
        return left.truth() ? left : evaluate(*expr.args[1]);
      }
      case Expr::Kind::negation: return !evaluate(*expr.args[0]).truth();
      case Expr::Kind::conditional:
        if (evaluate(*expr.args[0]).truth()) return evaluate(*expr.args[1]);
        return expr.args[2] ? evaluate(*expr.args[2]) : Value::undefined("the missing else branch");
    }
    return {};
  }

  Value name(const Expr& expr) {
    const Value* value = scope_->find(expr.name);
    return value ? *value : Value::undefined(expr.name);
  }

  Value sequence(const Expr& expr) {
    List items;
    for (const ExprPtr& arg : expr.args) items.push_back(evaluate(*arg));
    return Value::list(std::move(items),
                       expr.kind == Expr::Kind::tuple ? Value::Sequence::tuple : Value::Sequence::list);
  }

  Value dict(const Expr& expr) {
    Value value = Value::dict();
    for (size_t i = 0; i + 1 < expr.args.size(); i += 2) {
      Value key = evaluate(*expr.args[i]);
      value.entries().set(std::move(key), evaluate(*expr.args[i + 1]));
    }
    return value;
  }

  void refuse_undefined(const Value& value, Place place) const {
    if (value.is_undefined()) error("'" + std::get<Undefined>(value.v).name + "' is undefined", place);
  }

  // x.name: a method of str, list or dict first, as in Python, then a key.
  Value attribute(const Value& object, const Expr& expr) {
    refuse_undefined(object, expr.place);
    if (std::optional<Value> method = find_method(object, expr.name)) return *method;
    if (object.is_dict()) {
      if (const Value* value = object.entries().find(expr.name)) return *value;
    }
    return Value::undefined(expr.name);
  }

  Value item(const Expr& expr) {
    const Value object = evaluate(*expr.args[0]), key = evaluate(*expr.args[1]);
    refuse_undefined(object, expr.place);
    if (object.is_dict()) {
      if (const Value* value = object.entries().find(key)) return *value;
      if (key.is_string()) {
        if (std::optional<Value> method = find_method(object, key.string())) return *method;
      }
      return Value::undefined(to_string(key));
    }
    if (key.is_number() && (object.is_list() || object.is_string())) {
      const List items = object.is_list() ? List() : iterate(object);
      const List& all = object.is_list() ? object.items() : items;
      int64_t i = key.integer();
      if (i < 0) i += static_cast<int64_t>(all.size());
      if (i >= 0 && i < static_cast<int64_t>(all.size())) return all[static_cast<size_t>(i)];
    }
    if (key.is_string()) {
      if (std::optional<Value> method = find_method(object, key.string())) return *method;
    }
    return Value::undefined(to_string(key));
  }

  Value sliced(const Expr& expr) {
    const Value object = evaluate(*expr.args[0]);
    std::array<std::optional<int64_t>, 3> parts;
    for (size_t i = 0; i < 3; ++i) {
      if (!expr.args[i + 1]) continue;
      const Value part = evaluate(*expr.args[i + 1]);
      if (part.is_none()) continue;
      if (!part.is_number()) error(std::string("a slice needs numbers, got ") + part.type_name(), expr.place);
      parts[i] = part.integer();
    }
    refuse_undefined(object, expr.place);
    if (!object.is_string() && !object.is_list())
      error(std::string("a ") + object.type_name() + " can't be sliced", expr.place);
    if (parts[2] == 0) error("a slice's step is zero", expr.place);
    return slice(object, parts[0], parts[1], parts[2]);
  }

  CallArgs arguments(const Expr& expr) {
    CallArgs args;
    for (size_t i = 1; i < expr.args.size(); ++i) args.positional.push_back(evaluate(*expr.args[i]));
    for (const auto& [name, value] : expr.named) args.named.emplace_back(name, evaluate(*value));
    at(expr.place);
    return args;
  }

  Value call(const Value& function, const CallArgs& args, const Expr& expr) {
    if (function.is_undefined())
      error("'" + std::get<Undefined>(function.v).name + "' is undefined and can't be called", expr.place);
    if (!function.is_callable()) error(std::string("a ") + function.type_name() + " can't be called", expr.place);
    count_step(expr.place);
    return std::get<std::shared_ptr<Callable>>(function.v)->call(args);
  }

  // A chain of filters; its innermost operand is `input` where the tree has none.
  Value evaluate_filters(const Expr& expr, Value input) {
    Value value = !expr.args[0]                              ? std::move(input)
                  : expr.args[0]->kind == Expr::Kind::filter ? evaluate_filters(*expr.args[0], std::move(input))
                                                             : evaluate(*expr.args[0]);
    const FilterFunction filter = find_filter(expr.name);
    if (!filter) error("there is no filter '" + expr.name + "'", expr.place);
    return filter(value, arguments(expr));
  }

  Value test(const Expr& expr) {
    const Value value = evaluate(*expr.args[0]);
    const TestFunction function = find_test(expr.name);
    if (!function) error("there is no test '" + expr.name + "'", expr.place);
    return function(value, arguments(expr));
  }

  Value unary(const Expr& expr) {
    const Value value = evaluate(*expr.args[0]);
    if (!value.is_number()) error(std::string("a number was expected, got ") + value.type_name(), expr.place);
    if (expr.ops[0] == Op::plus) return value;
    return value.is_float() ? Value(-value.number()) : Value(-value.integer());
  }

  Value compare(const Expr& expr) {
    Value left = evaluate(*expr.args[0]);
    for (size_t i = 0; i < expr.ops.size(); ++i) {
      Value right = evaluate(*expr.args[i + 1]);
      if (!holds(expr.ops[i], left, right, expr.place)) return false;
      left = std::move(right);
    }
    return true;
  }

  bool holds(Op op, const Value& a, const Value& b, Place place) const {
    if (op == Op::equal) return equal(a, b);
    if (op == Op::unequal) return !equal(a, b);
    if (op == Op::in || op == Op::not_in) {
      if (!b.is_undefined() && !b.is_string() && !b.is_list() && !b.is_dict())
        error(std::string("can't look for something in ") + b.type_name(), place);
      return contains(b, a) == (op == Op::in);
    }
    const bool comparable =
        (a.is_number() && b.is_number()) || (a.is_string() && b.is_string()) || (a.is_list() && b.is_list());
    if (!comparable) error(std::string("can't order ") + a.type_name() + " and " + b.type_name(), place);
    const int c = order(a, b);
    if (op == Op::less) return c < 0;
    if (op == Op::less_equal) return c <= 0;
    return op == Op::greater ? c > 0 : c >= 0;
  }

  Value binary(Op op, const Value& a, const Value& b, Place place) {
    if (op == Op::concat) return to_string(a) + to_string(b);
    if (op == Op::add && a.is_string() && b.is_string()) return a.string() + b.string();
    if (op == Op::add && a.is_list() && b.is_list()) {
      List all = a.items();
      all.insert(all.end(), b.items().begin(), b.items().end());
      return Value::list(std::move(all), std::get<Value::ListRef>(a.v).kind);
    }
    if (op == Op::multiply && (a.is_string() || a.is_list()) && b.is_number()) return repeated(a, b.integer(), place);
    if (op == Op::multiply && (b.is_string() || b.is_list()) && a.is_number()) return repeated(b, a.integer(), place);
    refuse_undefined(a, place);
    refuse_undefined(b, place);
    if (!a.is_number() || !b.is_number())
      error(std::string("can't combine ") + a.type_name() + " and " + b.type_name() + " this way", place);
    return a.is_float() || b.is_float() || op == Op::divide ? real_arithmetic(op, a.number(), b.number(), place)
                                                            : whole_arithmetic(op, a.integer(), b.integer(), place);
  }

  Value repeated(const Value& value, int64_t times, Place place) const {
    const size_t size = value.is_string() ? value.string().size() : value.items().size();
    times = std::max<int64_t>(times, 0);
    if (size > 0 && static_cast<size_t>(times) > kMaxOutput / size)
      error("the result of a repetition is too large", place);
    std::string text;
    List items;
    for (int64_t i = 0; i < times; ++i) {
      if (value.is_string())
        text += value.string();
      else
        items.insert(items.end(), value.items().begin(), value.items().end());
    }
    return value.is_string() ? Value(std::move(text)) : Value::list(std::move(items));
  }

  Value real_arithmetic(Op op, double a, double b, Place place) const {
    if (b == 0 && (op == Op::divide || op == Op::floor_divide || op == Op::modulo)) error("division by zero", place);
    switch (op) {
      case Op::add: return a + b;
      case Op::subtract: return a - b;
      case Op::multiply: return a * b;
      case Op::divide: return a / b;
      case Op::floor_divide: return std::floor(a / b);
      case Op::modulo: return a - std::floor(a / b) * b;
      default: return std::pow(a, b);
    }
  }

  Value whole_arithmetic(Op op, int64_t a, int64_t b, Place place) const {
    int64_t result = 0;
    bool overflow = false;
    if (b == 0 && (op == Op::floor_divide || op == Op::modulo)) error("division by zero", place);
    switch (op) {
      case Op::add: overflow = __builtin_add_overflow(a, b, &result); break;
      case Op::subtract: overflow = __builtin_sub_overflow(a, b, &result); break;
      case Op::multiply: overflow = __builtin_mul_overflow(a, b, &result); break;
      case Op::power: return whole_power(a, b, place);
      case Op::floor_divide:
      case Op::modulo: {
        if (b == -1) return op == Op::modulo ? Value(0) : whole_arithmetic(Op::subtract, 0, a, place);
        const int64_t remainder = ((a % b) + b) % b;  // Python's sign rule
        result = op == Op::modulo ? remainder : (a - remainder) / b;
        break;
      }
      default: break;
    }
    if (overflow) error("a number does not fit 64 bits", place);
    return result;
  }

  Value whole_power(int64_t base, int64_t exponent, Place place) const {
    if (exponent < 0) return std::pow(static_cast<double>(base), static_cast<double>(exponent));
    int64_t result = 1;
    for (int64_t i = 0; i < exponent && result != 0 && base != 1; ++i) {
      if (__builtin_mul_overflow(result, base, &result)) error("a number does not fit 64 bits", place);
      if (i > 64 && base == -1) return exponent % 2 ? Value(-1) : Value(1);
    }
    return result;
  }

  List iterate_at(const Value& value, Place place) const {
    if (!value.is_undefined() && !value.is_list() && !value.is_string() && !value.is_dict())
      error(std::string("can't loop over a ") + value.type_name(), place);
    return iterate(value);
  }

  const std::string& where_;
  Scope globals_, top_;
  Scope* scope_ = nullptr;
  Place place_;
  int64_t steps_ = 0;
  int calls_ = 0;
};

}  // namespace

std::string render(const Body& program, const Value& variables, const std::string& where) {
  return Interpreter(variables, where).run(program);
}

}  // namespace genai::jinja
