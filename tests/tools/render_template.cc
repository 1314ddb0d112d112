// Renders chat templates for tests/tools/compare_chat_templates.py: one JSON object {template, variables} per line in,
// one {output} or {error} per line out.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "text/chat_template.h"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const genai::Json job = genai::Json::parse(line);
    genai::Json answer;
    try {
      answer["output"] =
          genai::ChatTemplate::parse(job["template"].get<std::string>(), "template").render(job["variables"]);
    } catch (const nxrt::Error& error) {
      answer["error"] = error.text();
    }
    std::cout << answer.dump() << "\n";
  }
}
