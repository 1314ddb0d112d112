#include "cli/conversation.h"

#include <utility>

namespace genai::cli {

Conversation::Conversation(OpenedModel& model, const SamplingFlags& sampling, std::string system)
    : model_(model), sampling_(sampling), chat_(model.loaded.spec), system_(std::move(system)) {
  if (model.loaded.spec.chat_templates.empty()) {
    throw Error(Code::unsupported, "the package has no chat template", model.loaded.spec.folder.string(),
                "add chat_template.jinja to the folder, or answer plain text with onnx-genai generate");
  }
  reset();
}

void Conversation::reset() {
  messages_ = Json::array();
  if (!system_.empty()) messages_.push_back({{"role", "system"}, {"content", system_}});
  turns_ = 0;
}

void Conversation::set_system(std::string system) {
  system_ = std::move(system);
  reset();
}

Answer Conversation::turn(const std::string& text, const CooperativeInterrupt& interrupt,
                          const std::function<void(std::string_view)>& on_text) {
  Json messages = messages_;
  messages.push_back({{"role", "user"}, {"content", text}});
  Request request = sampling_.request(model_.loaded.spec.generation);
  request.prompt = model_.loaded.tokenizer->encode(chat_.render(messages, {}), {.special_tokens = false});
  Answer answer = read_answer(model_.engine->submit(std::move(request)), interrupt, on_text);
  messages.push_back(
      {{"role", "assistant"}, {"content", answer.text}});  // an interrupted answer is kept as far as it came
  messages_ = std::move(messages);
  ++turns_;
  return answer;
}

}  // namespace genai::cli
