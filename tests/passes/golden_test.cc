// The passes' text files: every case is verified before and after, run twice, and computes the same as before.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "exec/session.h"
#include "graph/text.h"
#include "graph/verifier.h"
#include "passes/pass.h"
#include "passes/table.h"
#include "support/op_runner.h"
#include "support/random_inputs.h"

namespace nxrt::passes {
namespace {

struct Case {
  std::string pass, title, before, after;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.pass << ": " << c.title; }
};

std::string section(const std::string& text, const std::string& keyword) {
  const size_t at = text.find("\n" + keyword + " ");
  if (at == std::string::npos) return {};
  const size_t begin = at + keyword.size() + 2;
  size_t end = text.size();
  for (const char* next : {"\nbefore ", "\nafter ", "\nunchanged "}) end = std::min(end, text.find(next, begin));
  return text.substr(begin, end - begin);
}

std::vector<Case> read_cases(const std::string& pass, const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream all;
  all << file.rdbuf();
  const std::string text = "\n" + all.str();
  std::vector<Case> cases;
  for (size_t at = text.find("\ncase "); at != std::string::npos;) {
    const size_t next = text.find("\ncase ", at + 1);
    const std::string body = text.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    const std::string same = section(body, "unchanged");
    const std::string title = body.substr(5, body.find('\n') - 5);
    cases.push_back(
        {pass, title, same.empty() ? section(body, "before") : same, same.empty() ? section(body, "after") : same});
    at = next;
  }
  return cases;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Pass& pass : all_passes()) {
    const std::string name(pass.name);
    const auto read = read_cases(name, fmt::format("{}/tests/golden/passes/{}.txt", NXRT_SOURCE_DIR, name));
    EXPECT_FALSE(read.empty()) << name;
    cases.insert(cases.end(), read.begin(), read.end());
  }
  return cases;
}

PassFunction function_of(const std::string& name) {
  for (const Pass& pass : all_passes()) {
    if (pass.name == name) return pass.run;
  }
  return nullptr;
}

std::unique_ptr<Graph> parse_typed(const std::string& text, const std::string& where) {
  auto graph = parse_graph(text, where);
  infer_shapes(*graph, where);
  return graph;
}

std::string printed(const Graph& graph) { return print_graph(graph, {.types = false, .node_names = false}); }

class Golden : public testing::TestWithParam<Case> {};

TEST_P(Golden, RewritesAsWritten) {
  const Case& c = GetParam();
  Workers workers(1);
  const PassContext context{.where = c.pass, .cpu = &kernels_for(Isa::scalar), .workers = &workers};
  auto graph = parse_typed(c.before, c.pass + " before");
  verify(*graph, "before");
  const bool changed = function_of(c.pass)(*graph, context);
  verify(*graph, "after");
  EXPECT_EQ(changed, c.before != c.after);
  function_of("eliminate_dead_code")(*graph, context);
  EXPECT_EQ(printed(*graph), printed(*parse_typed(c.after, c.pass + " after")));

  const std::string once = printed(*graph);
  infer_shapes(*graph, c.pass);
  EXPECT_FALSE(function_of(c.pass)(*graph, context)) << "a second run changes something";
  EXPECT_EQ(printed(*graph), once);
}

TEST_P(Golden, ComputesTheSame) {
  const Case& c = GetParam();
  Workers workers(1);
  const auto run = [&](const std::string& text) {
    auto graph = parse_graph(text, c.pass);
    const auto inputs = test::random_inputs(*graph, 7);
    return exec::Session::prepare(std::move(graph), c.pass, workers, {.isa = Isa::scalar, .optimize = false})
        ->run(inputs);
  };
  const auto before = run(c.before), after = run(c.after);
  ASSERT_EQ(before.size(), after.size());
  for (const auto& [name, tensor] : before) {
    SCOPED_TRACE(name);
    if (tensor.dtype() == DType::f32) {
      test::expect_near(after.at(name), tensor, 2e-5f);
    } else {
      test::expect_equal(after.at(name), tensor);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, Golden, testing::ValuesIn(all_cases()), [](const auto& param) {
  std::string name = param.param.pass + "_" + param.param.title;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

}  // namespace
}  // namespace nxrt::passes
