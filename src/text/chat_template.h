// A Jinja chat template, compiled once, rendered per request.
//
//   ChatTemplate t = ChatTemplate::parse(source, "chat_template.jinja");
//   std::string prompt = t.render({{"messages", messages}, {"add_generation_prompt", true}, {"bos_token", "<s>"}});
//
// The subset published templates use, rendered as `transformers` does (trim_blocks, lstrip_blocks, loopcontrols,
// generation blocks; tojson, strftime_now, raise_exception; Python's string, list and dict methods).
// Threads: immutable; render from any thread. Errors: parse and render throw Error{invalid_argument} with line and
// column; raise_exception's own message is the Error's message. Limits: output size and steps are bounded (no endless
// loop).
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>  // ordered_json is declared; include nlohmann/json.hpp where values are made
#include <string>
#include <string_view>

namespace genai {

// Insertion order matters to tojson and to iteration, as in Python.
using Json = nlohmann::ordered_json;

class ChatTemplate {
 public:
  static ChatTemplate parse(std::string_view source, const std::string& where);
  std::string render(const Json& variables) const;

 private:
  struct Program;
  std::shared_ptr<const Program> program_;
};

}  // namespace genai
