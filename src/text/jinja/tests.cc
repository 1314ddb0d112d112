// Jinja's tests: `x is name(args)`.
#include <algorithm>
#include <array>

#include "text/jinja/builtins.h"

namespace genai::jinja {
namespace {

const Value& argument(const CallArgs& args, const char* test) {
  if (args.positional.empty()) fail(std::string("the test '") + test + "' needs an argument");
  return args.positional[0];
}

bool defined(const Value& v, const CallArgs&) { return !v.is_undefined(); }
bool undefined(const Value& v, const CallArgs&) { return v.is_undefined(); }
bool none(const Value& v, const CallArgs&) { return v.is_none(); }
bool boolean(const Value& v, const CallArgs&) { return v.is_bool(); }
bool is_true(const Value& v, const CallArgs&) { return v.is_bool() && v.truth(); }
bool is_false(const Value& v, const CallArgs&) { return v.is_bool() && !v.truth(); }
bool string(const Value& v, const CallArgs&) { return v.is_string(); }
bool number(const Value& v, const CallArgs&) { return v.is_number(); }
bool integer(const Value& v, const CallArgs&) { return v.is_int(); }
bool real(const Value& v, const CallArgs&) { return v.is_float(); }
bool mapping(const Value& v, const CallArgs&) { return v.is_dict() && !v.entries().is_namespace; }
bool sequence(const Value& v, const CallArgs&) {
  return v.is_list() || v.is_string() || v.is_dict() || v.is_undefined();
}
bool iterable(const Value& v, const CallArgs&) { return sequence(v, {}); }
bool callable(const Value& v, const CallArgs&) { return v.is_callable(); }
bool is_lower(const Value& v, const CallArgs&) {
  return v.is_string() && lower(v.string()) == v.string() && upper(v.string()) != v.string();
}
bool is_upper(const Value& v, const CallArgs&) {
  return v.is_string() && upper(v.string()) == v.string() && lower(v.string()) != v.string();
}
bool even(const Value& v, const CallArgs&) { return v.integer() % 2 == 0; }
bool odd(const Value& v, const CallArgs&) { return v.integer() % 2 != 0; }
bool divisible(const Value& v, const CallArgs& args) {
  const int64_t by = argument(args, "divisibleby").integer();
  if (by == 0) fail("division by zero");
  return v.integer() % by == 0;
}
bool eq(const Value& v, const CallArgs& args) { return equal(v, argument(args, "eq")); }
bool ne(const Value& v, const CallArgs& args) { return !equal(v, argument(args, "ne")); }
bool lt(const Value& v, const CallArgs& args) { return order(v, argument(args, "lt")) < 0; }
bool le(const Value& v, const CallArgs& args) { return order(v, argument(args, "le")) <= 0; }
bool gt(const Value& v, const CallArgs& args) { return order(v, argument(args, "gt")) > 0; }
bool ge(const Value& v, const CallArgs& args) { return order(v, argument(args, "ge")) >= 0; }
bool in(const Value& v, const CallArgs& args) { return contains(argument(args, "in"), v); }
bool same_as(const Value& v, const CallArgs& args) {
  const Value& other = argument(args, "sameas");
  if (v.v.index() != other.v.index()) return false;
  if (v.is_list()) return &v.items() == &other.items();
  if (v.is_dict()) return &v.entries() == &other.entries();
  return equal(v, other);
}
bool filter(const Value& v, const CallArgs&) { return v.is_string() && find_filter(v.string()); }
bool test(const Value& v, const CallArgs&) { return v.is_string() && find_test(v.string()); }

struct Row {
  std::string_view name;
  TestFunction function;
};
constexpr auto kTests = std::to_array<Row>({{"boolean", boolean},
                                            {"callable", callable},
                                            {"defined", defined},
                                            {"divisibleby", divisible},
                                            {"eq", eq},
                                            {"equalto", eq},
                                            {"even", even},
                                            {"false", is_false},
                                            {"filter", filter},
                                            {"float", real},
                                            {"ge", ge},
                                            {"greaterthan", gt},
                                            {"gt", gt},
                                            {"in", in},
                                            {"integer", integer},
                                            {"iterable", iterable},
                                            {"le", le},
                                            {"lessthan", lt},
                                            {"lower", is_lower},
                                            {"lt", lt},
                                            {"mapping", mapping},
                                            {"ne", ne},
                                            {"none", none},
                                            {"number", number},
                                            {"odd", odd},
                                            {"sameas", same_as},
                                            {"sequence", sequence},
                                            {"string", string},
                                            {"test", test},
                                            {"true", is_true},
                                            {"undefined", undefined},
                                            {"upper", is_upper}});

}  // namespace

TestFunction find_test(std::string_view name) {
  const auto row = std::ranges::find(kTests, name, &Row::name);
  return row == kTests.end() ? nullptr : row->function;
}

}  // namespace genai::jinja
