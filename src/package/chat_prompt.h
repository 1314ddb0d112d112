// Messages → the prompt text that a package's chat template makes of them.
//
//   ChatPrompt chat(spec);
//   std::string text = chat.render(Json::array({{{"role", "user"}, {"content", "Hi"}}}), {});
//
// The text already holds the template's special tokens: encode it with special_tokens = false, parse_special = true.
// Threads: immutable; render from any thread. Errors: Error{unsupported} when the package has no template;
// Error{invalid_argument} from the template itself (its raise_exception, an unknown name).
#pragma once

#include <map>
#include <string>

#include "package/model_spec.h"

namespace genai {

class ChatPrompt {
 public:
  explicit ChatPrompt(const ModelSpec& spec);

  struct Options {
    bool add_generation_prompt = true;
    std::string template_name;        // "": "tool_use" when tools are given and it exists, else the default
    const Json* tools = nullptr;      // an array, or null
    const Json* variables = nullptr;  // further template variables (an object), or null
  };
  std::string render(const Json& messages, const Options& options) const;

 private:
  const ChatTemplate& choose(const Options& options) const;
  std::string where_, bos_token_, eos_token_;
  std::map<std::string, ChatTemplate> templates_;
};

}  // namespace genai
