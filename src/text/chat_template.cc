#include "text/chat_template.h"

#include <nlohmann/json.hpp>

#include "text/jinja/interpreter.h"

namespace genai {

struct ChatTemplate::Program {
  std::string where;
  jinja::Body body;
};

ChatTemplate ChatTemplate::parse(std::string_view source, const std::string& where) {
  ChatTemplate parsed;
  parsed.program_ =
      std::make_shared<const Program>(Program{where, jinja::parse(jinja::tokenize(source, where), where)});
  return parsed;
}

std::string ChatTemplate::render(const Json& variables) const {
  const jinja::Arena arena;
  return jinja::render(program_->body, jinja::Value::from_json(variables), program_->where);
}

}  // namespace genai
