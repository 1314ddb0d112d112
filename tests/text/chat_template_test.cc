// Against Python's jinja2 set up as `transformers` does (tests/golden/text/make_chat_templates.py).
#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace genai {
namespace {

Json golden() {
  std::ifstream file(NXRT_SOURCE_DIR "/tests/golden/text/chat_templates.json");
  return Json::parse(file);
}

TEST(ChatTemplate, RendersAsJinja2Does) {
  const Json all = golden();
  for (const Json& test : all["cases"]) {
    const std::string source = test["template"];
    SCOPED_TRACE(source);
    if (test.contains("output")) {
      EXPECT_EQ(ChatTemplate::parse(source, "t").render(all["variables"]), test["output"].get<std::string>());
      continue;
    }
    try {
      const std::string text = ChatTemplate::parse(source, "t").render(all["variables"]);
      ADD_FAILURE() << "rendered: " << text;
    } catch (const nxrt::Error& error) {
      EXPECT_EQ(error.code(), nxrt::Code::invalid_argument);
      EXPECT_TRUE(error.at().starts_with("t:")) << error.text();
      if (test["error"] != "") EXPECT_EQ(error.message(), test["error"].get<std::string>());
    }
  }
}

std::string refusal(const std::string& source) {
  try {
    ChatTemplate::parse(source, "t").render({{"x", 1}});
  } catch (const nxrt::Error& error) {
    return error.text();
  }
  return "rendered";
}

TEST(ChatTemplate, ErrorsNameLineAndColumn) {
  EXPECT_EQ(refusal("ab\n  {{ x + 'a' }}"), "error: can't combine int and str this way\n  at   t:2:8");
  EXPECT_EQ(refusal("{{ x | wrong }}"), "error: there is no filter 'wrong'\n  at   t:1:8");
  EXPECT_EQ(refusal("{{ (1 }}"), "error: unexpected '}'\n  at   t:1:8");
  EXPECT_EQ(refusal("\n{% frob %}"), "error: the block 'frob' is not supported\n  at   t:2:9");
}

// A template comes from a stranger's folder: it must end, in bounded memory, without overflowing the stack.
TEST(ChatTemplate, HostileTemplatesEnd) {
  std::string deep = "{{ ";
  for (int i = 0; i < 100'000; ++i) deep += "(";
  deep += "1" + std::string(100'000, ')') + " }}";
  EXPECT_NE(refusal(deep).find("nested more than"), std::string::npos);
  EXPECT_NE(refusal("{% set n = namespace(x=[]) %}{% for i in range(1000) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}")
                .find("nested more than"),
            std::string::npos);
  EXPECT_NE(refusal("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}").find("deep"), std::string::npos);
  EXPECT_NE(refusal("{% set n = namespace(s='xxxxxxxxxxxxxxxx') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{{ "
                    "n.s }}{% endfor %}")
                .find("too large"),
            std::string::npos);
  EXPECT_NE(
      refusal("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}").find("more than"),
      std::string::npos);
  EXPECT_NE(refusal("{% set n = namespace() %}{% set n.n = n %}{{ n }}").find("nested more than"), std::string::npos);
  EXPECT_NE(refusal("{% set l = [] %}{{ l.append(l) }}{{ l == [l] }}").find("nested more than"), std::string::npos);
  EXPECT_EQ(refusal("{% set n = namespace(x=[]) %}{% for i in range(30000) %}{% set n.x = [n.x] %}{% endfor %}"),
            "rendered");
  EXPECT_NE(refusal("{% for i in range(100) %}{% set x = range(1000000) %}{% endfor %}").find("more than"),
            std::string::npos);
  EXPECT_NE(refusal("{{ 'a' * 99999999999 }}").find("too large"), std::string::npos);
  for (const char* broken : {"{{", "{%", "{#", "{% raw %}", "{{ \"", "{% if %}", "{% endif %}", "{{ }}", "{% set %}",
                             "{{ a. }}", "{{ a[ }}", "{% for %}", "{{ {1:} }}", "{{ 1 is }}", "{{ x | }}"}) {
    EXPECT_NE(refusal(broken), "rendered") << broken;
  }
}

}  // namespace
}  // namespace genai
