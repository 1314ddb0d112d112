// Filters, tests, methods and global functions by name: what published templates use of Jinja's and Python's.
//
// Threads: pure functions. Errors: Error{invalid_argument}; the interpreter adds the place.
#pragma once

#include <optional>
#include <string_view>

#include "text/jinja/value.h"

namespace genai::jinja {

using FilterFunction = Value (*)(const Value& value, const CallArgs& args);
using TestFunction = bool (*)(const Value& value, const CallArgs& args);

FilterFunction find_filter(std::string_view name);  // null when unknown
TestFunction find_test(std::string_view name);      // null when unknown

// value.name(args) of a str, list or dict, bound to `value`; empty when there is no such method.
std::optional<Value> find_method(const Value& value, std::string_view name);

// The elements of something that can be looped over; throws for what can't.
List iterate(const Value& value);

// value.name or value[name] for the attribute= argument of filters ("function.name" goes two deep).
Value attribute_path(const Value& value, std::string_view path);

// Shared by filters and methods.
std::string strip(std::string_view text, std::optional<std::string_view> characters, bool left, bool right);
std::string replace_all(std::string_view text, std::string_view from, std::string_view to, int64_t count);
std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string capitalize(std::string_view text);
std::string title(std::string_view text);

// Python's slice of a list or string; absent parts are nullopt.
Value slice(const Value& value, std::optional<int64_t> begin, std::optional<int64_t> end, std::optional<int64_t> step);

std::string strftime_now(const std::string& format);

}  // namespace genai::jinja
