// Attention in basic operators, as exporters leave it: found, replaced, and refused when it is something else.
#include "gen/written_out_attention.h"

#include <gmock/gmock.h>

#include "gen/fixture_model.h"
#include "gen/paged_rewrite.h"
#include "gen/step_bench.h"
#include "gen/tiny_decoder.h"
#include "onnx/reader.h"
#include "passes/pass.h"
#include "support/every_isa.h"

namespace genai {
namespace {

using nxrt::Graph;
using nxrt::Node;
using nxrt::NodeId;
using nxrt::ValueId;
using test::distance;
using test::logits_alone;
using ::testing::HasSubstr;

constexpr const char* kFolder = "written_out_llama";

std::unique_ptr<Graph> exported(const std::function<void(Graph&)>& change = {}) {
  auto graph = nxrt::read_model(test::fixture_folder(kFolder) / "model.onnx");
  if (change) change(*graph);
  nxrt::passes::infer_shapes(*graph, "m.onnx");
  return graph;
}

// The `index`-th node of this operator.
Node& nth(Graph& graph, const std::string& op, int index = 0) {
  for (const NodeId id : graph.order()) {
    if (graph.node(id).op == op && index-- == 0) return graph.node(id);
  }
  throw std::out_of_range(op);
}

PagedRewrite rewrite(const Graph& graph) { return rewrite_paged(graph, test::ports_of(graph), "m.onnx", 64); }

std::unique_ptr<DecoderModel> paged(const Graph& graph, nxrt::Workers& workers, nxrt::Isa isa = nxrt::best_isa()) {
  PagedRewrite result = rewrite(graph);
  if (!result.decoder) throw Error(Code::unsupported, result.reason);
  return std::make_unique<PagedModel>(std::move(*result.decoder), "m.onnx", workers,
                                      PagedModel::Options{.context_length = 64, .max_step_rows = 48},
                                      nxrt::exec::SessionOptions{.isa = isa, .verify = true});
}

std::unique_ptr<DecoderModel> dense(std::unique_ptr<Graph> graph, nxrt::Workers& workers) {
  const DecoderPorts ports = test::ports_of(*graph);
  return std::make_unique<DenseModel>(std::move(graph), ports, "m.onnx", workers,
                                      DenseModel::Options{.context_length = 64, .max_step_rows = 48},
                                      nxrt::exec::SessionOptions{.verify = true});
}

// Rows see the last four tokens alone.
void add_window(Graph& graph) {
  const ValueId later = nth(graph, "Greater").outputs[0];
  const std::vector<ValueId> compared = nth(graph, "Greater").inputs;
  const NodeId reader = graph.users(later)[0];
  const ValueId four = graph.add_constant("four", nxrt::Tensor::of<int64_t>({}, {4}));
  const auto add = [&](const char* op, std::vector<ValueId> inputs) {
    return graph.node(graph.add_node({.op = op, .inputs = std::move(inputs)}, {op}, reader)).outputs[0];
  };
  const ValueId hidden = add("LessOrEqual", {compared[0], add("Sub", {compared[1], four})});
  const ValueId either = add("Or", {later, hidden});
  graph.node(reader).inputs[0] = either;
}

using WrittenOutOn = nxrt::test::EveryIsa;

TEST_P(WrittenOutOn, GivesTheLogitsOfOnnxRuntime) {
  nxrt::Workers workers(2);
  const test::Golden golden = test::golden_of(kFolder);
  const auto model = paged(*exported(), workers, GetParam());
  EXPECT_LE(distance(logits_alone(*model, golden.prompt), golden.logits), 1e-5f);
  EXPECT_LE(distance(logits_alone(*model, golden.prompt, {2, 1, 4}, 5), golden.logits), 1e-5f);
}

INSTANTIATE_EVERY_ISA(WrittenOutOn);

TEST(WrittenOutAttention, AnswersWithTheTokensOfOnnxRuntime) {
  test::Golden golden = test::golden_of(kFolder);
  auto workers = std::make_shared<nxrt::Workers>(2);
  Engine engine(paged(*exported(), *workers), nullptr,
                {.kv_bytes = 1 << 20, .scheduler = {.max_sequences = 2}, .manual = true});
  Ticket ticket = engine.submit(test::greedy(golden.prompt, static_cast<int>(golden.greedy.size())));
  std::vector<TokenId> tokens;
  while (!ticket.done()) {
    while (const auto event = ticket.try_next()) tokens.push_back(event->token);
    engine.step();
  }
  EXPECT_EQ(tokens, golden.greedy);
}

TEST(WrittenOutAttention, BecomesPagedAttentionAndItsMaskDisappears) {
  const PagedRewrite result = rewrite(*exported());
  ASSERT_EQ(result.reason, "");
  int attentions = 0;
  for (const NodeId id : result.decoder->graph->order()) {
    const Node& node = result.decoder->graph->node(id);
    attentions += node.op == "PagedAttention";
    EXPECT_NE(node.op, "Softmax");
    EXPECT_NE(node.op, "Range");
    if (node.op != "PagedAttention") continue;
    EXPECT_FLOAT_EQ(std::get<float>(node.attributes.at("scale")), 1 / std::sqrt(8.0f));
    EXPECT_EQ(std::get<int64_t>(node.attributes.at("kv_num_heads")), 2);
    EXPECT_FALSE(node.attributes.contains("local_window_size"));
  }
  EXPECT_EQ(attentions, 2);
  EXPECT_EQ(result.decoder->position_ids, "position_ids");
}

TEST(WrittenOutAttention, AWindowIsReadFromTheMask) {
  nxrt::Workers workers(2);
  const auto tokens = test::random_tokens(3, 41, 96);
  const auto whole = logits_alone(*paged(*exported(), workers), tokens);
  const auto windowed = logits_alone(*paged(*exported(add_window), workers), tokens, {9});
  EXPECT_LE(distance(windowed, logits_alone(*dense(exported(add_window), workers), tokens)), 1e-5f);
  EXPECT_GT(distance(windowed, whole), 1e-2f) << "the window changes something";
}

TEST(WrittenOutAttention, RefusedByNodeAndReason) {
  const auto reason = [](const std::function<void(Graph&)>& change) { return rewrite(*exported(change)).reason; };
  EXPECT_THAT(reason([](Graph& g) { nth(g, "Greater").op = "GreaterOrEqual"; }),
              HasSubstr("(MatMul) has a mask that adds -"));
  EXPECT_THAT(reason([](Graph& g) { nth(g, "Greater").op = "Less"; }), HasSubstr("for row"));
  EXPECT_THAT(reason([](Graph& g) { nth(g, "Softmax").attributes["axis"] = int64_t{2}; }),
              HasSubstr("(Softmax) stands between the scores and their Softmax"));
  EXPECT_THAT(reason([](Graph& g) {
                for (const NodeId id : g.order()) {
                  Node& node = g.node(id);
                  if (node.op == "Unsqueeze" && node.inputs[0] == g.find_value("attention_mask"))
                    node.inputs[0] = g.find_value("input_ids");
                }
              }),
              HasSubstr("has a mask that depends on the contents of 'input_ids'"));
  EXPECT_THAT(reason([](Graph& g) {
                const ValueId scores = nth(g, "Softmax").inputs[0];
                Node& add = g.node(g.value(scores).producer);
                add.op = "Identity";
                add.inputs.pop_back();
              }),
              HasSubstr("(Identity)"));
}

}  // namespace
}  // namespace genai
