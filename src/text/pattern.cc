#include "text/pattern.h"

namespace genai {

Pattern Pattern::parse(const JsonNode& node) {
  if (node.is_string()) return Pattern(std::string(node.string()));  // as old files have it
  if (node.has("String")) return Pattern(std::string(node.string("String")));
  if (node.has("Regex")) return Pattern(Regex::compile(node.string("Regex"), node.where()));
  node.fail("has neither 'String' nor 'Regex'");
}

void Pattern::replace(std::string& text, std::string_view content) const {
  std::string out;
  size_t done = 0;
  bool any = false;
  each(text, [&](size_t begin, size_t end) {
    out.append(text, done, begin - done).append(content);
    done = end;
    any = true;
  });
  if (!any) return;
  out.append(text, done);
  text = std::move(out);
}

}  // namespace genai
