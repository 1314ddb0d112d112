#include "package/chat_prompt.h"

#include <nlohmann/json.hpp>

namespace genai {

ChatPrompt::ChatPrompt(const ModelSpec& spec)
    : where_(spec.folder.string()), bos_token_(spec.bos_token), eos_token_(spec.eos_token) {
  for (const auto& [name, source] : spec.chat_templates) {
    templates_.emplace(name.empty() ? "default" : name, ChatTemplate::parse(source, "chat template '" + name + "'"));
  }
}

const ChatTemplate& ChatPrompt::choose(const Options& options) const {
  std::string name = options.template_name;
  if (name.empty()) name = options.tools && templates_.contains("tool_use") ? "tool_use" : "default";
  const auto found = templates_.find(name);
  if (found != templates_.end()) return found->second;
  if (options.template_name.empty() && templates_.size() == 1) return templates_.begin()->second;
  if (templates_.empty()) {
    throw Error(Code::unsupported, "the package has no chat template", where_,
                "add chat_template.jinja to the folder, or prompt with plain text");
  }
  throw Error(Code::not_found, "the package has no chat template named '" + name + "'", where_);
}

std::string ChatPrompt::render(const Json& messages, const Options& options) const {
  Json variables = {{"messages", messages},
                    {"add_generation_prompt", options.add_generation_prompt},
                    {"bos_token", bos_token_},
                    {"eos_token", eos_token_}};
  if (options.tools) variables["tools"] = *options.tools;
  if (options.variables) variables.update(*options.variables);
  return choose(options).render(variables);
}

}  // namespace genai
