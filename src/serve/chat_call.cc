#include "serve/chat_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace genai::serve {
namespace {
constexpr std::array kRoles = {"system", "developer", "user", "assistant", "tool", "function"};

// Text parts joined; anything else is named.
std::string text_of_parts(const Json& parts, const std::string& path) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string at = fmt::format("{}[{}]", path, i);
    if (!parts[i].is_object()) {
      throw ApiError::bad_request(at, fmt::format("{} is {}, expected an object with a type", at, shown(parts[i])));
    }
    Fields fields(parts[i], at);
    const std::string type = fields.required("type", "a text").is_string() ? *fields.text("type") : "";
    if (type != "text") {
      throw ApiError::unsupported(
          at + ".type", fmt::format("{}.type is {}, this model reads only text parts", at, shown(parts[i]["type"])));
    }
    const Json& piece = fields.required("text", "a text");
    if (!piece.is_string()) fields.refuse("text", piece, "a text");
    text += piece.get<std::string>();
  }
  return text;
}

Json read_message(const Json& message, const std::string& path) {
  if (!message.is_object()) {
    throw ApiError::bad_request(path, fmt::format("{} is {}, expected an object", path, shown(message)));
  }
  Fields fields(message, path);
  const Json& role = fields.required("role", "a role");
  const bool known = role.is_string() && std::ranges::find(kRoles, role.get<std::string>()) != kRoles.end();
  if (!known) fields.refuse("role", role, "system, developer, user, assistant or tool");
  Json read = message;
  const Json* content = fields.find("content");
  if (content == nullptr) {
    const bool may_be_absent = role == "assistant";
    if (!may_be_absent) fields.required("content", "a text");
    read["content"] = message.contains("tool_calls") ? Json(nullptr) : Json("");
  } else if (content->is_array()) {
    read["content"] = text_of_parts(*content, fields.path("content"));
  } else if (!content->is_string()) {
    fields.refuse("content", *content, "a text or an array of parts");
  }
  return read;
}

void refuse_what_is_not_offered(Fields& fields) {
  const auto refuse = [&](const char* name, const char* why) {
    throw ApiError::unsupported(name, std::string(name) + " is not supported by this server yet: " + why);
  };
  if (const Json* tools = fields.find("tools")) {
    if (!tools->is_array()) fields.refuse("tools", *tools, "an array");
    if (!tools->empty()) refuse("tools", "leave it out, or describe the tools in the system message");
  }
  if (const Json* choice = fields.find("tool_choice"); choice != nullptr && *choice != "none") {
    refuse("tool_choice", "leave it out");
  }
  for (const char* name : {"functions", "function_call"}) {
    if (fields.find(name) != nullptr) refuse(name, "leave it out");
  }
  if (const Json* format = fields.find("response_format")) {
    if (!format->is_object()) fields.refuse("response_format", *format, "an object with a type");
    Fields inner(*format, "response_format");
    const std::string type = inner.one_of("type", {"text", "json_object", "json_schema"}).value_or("");
    if (type.empty()) inner.required("type", "text, json_object or json_schema");
    if (type != "text") refuse("response_format", "only type text; ask for JSON in the prompt");
  }
  if (const Json* modalities = fields.find("modalities");
      modalities != nullptr && *modalities != Json::array({"text"})) {
    refuse("modalities", "only [\"text\"]");
  }
  for (const char* name : {"audio", "prediction", "web_search_options"}) {
    if (fields.find(name) != nullptr) refuse(name, "leave it out");
  }
}

void read_logprobs(Fields& fields, ChatCall& call) {
  call.logprobs = fields.boolean("logprobs").value_or(false);
  const auto top = fields.integer("top_logprobs", 0, 20);
  if (top && !call.logprobs) {
    throw ApiError::bad_request("top_logprobs", "top_logprobs is given, expected only together with logprobs: true");
  }
  call.top_logprobs = static_cast<int>(top.value_or(0));
}
}  // namespace

Json read_messages(const Json& messages) {
  if (!messages.is_array() || messages.empty()) {
    throw ApiError::bad_request("messages", "messages is " + shown(messages) + ", expected an array of at least one");
  }
  Json read = Json::array();
  for (size_t i = 0; i < messages.size(); ++i)
    read.push_back(read_message(messages[i], fmt::format("messages[{}]", i)));
  return read;
}

ChatCall ChatCall::parse(std::string_view body, const CallLimits& limits) {
  const Json json = body_object(body);
  Fields fields(json);
  ChatCall call;
  call.model = fields.text("model").value_or("");
  call.messages = read_messages(fields.required("messages", "an array of messages"));
  call.session_id = fields.text("session_id").value_or("");
  refuse_what_is_not_offered(fields);
  read_logprobs(fields, call);
  call.truncate = fields.one_of("truncation", {"auto", "disabled"}) == "auto";
  call.variables = Json::object();
  if (const Json* variables = fields.find("chat_template_kwargs")) {
    if (!variables->is_object()) fields.refuse("chat_template_kwargs", *variables, "an object");
    call.variables = *variables;
  }
  const auto effort = fields.one_of("reasoning_effort", {"none", "minimal", "low", "medium", "high", "xhigh"});
  if (effort) call.variables["reasoning_effort"] = *effort;
  call.sampling.emplace(fields, limits.max_output_tokens);
  for (const char* unused : {"user", "metadata", "store", "service_tier", "parallel_tool_calls", "safety_identifier",
                             "prompt_cache_key", "verbosity"}) {
    fields.find(unused);
  }
  if (limits.strict) fields.refuse_unread();
  return call;
}

}  // namespace genai::serve
