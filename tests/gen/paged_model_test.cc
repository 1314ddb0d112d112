// The paged path on real graphs: right against ONNX Runtime, and the same bits whatever runs beside a sequence.
#include "gen/paged_model.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "base/dispatch_ledger.h"
#include "gen/fixture_model.h"
#include "gen/step_bench.h"
#include "gen/tiny_decoder.h"
#include "support/every_isa.h"
#include "support/gate_for_test.h"

namespace genai {
namespace {

using test::distance;
using test::logits_alone;
using test::random_tokens;
using test::StepBench;

struct Fixture {
  const char* folder;
  float tolerance;  // of the largest logit
};
constexpr Fixture kFixtures[] = {{"builder_llama_fp32", 1e-5f}, {"builder_llama_int4", 1e-4f}};

// With the cache in f32, as ONNX Runtime's is.
LoadedModel load(const char* folder, nxrt::Isa isa, int threads = 2) {
  return load_model(test::fixture_folder(folder),
                    {.threads = threads, .isa = isa, .kv_dtype = nxrt::DType::f32, .max_step_rows = 64});
}

using PagedModelOn = nxrt::test::EveryIsa;

TEST_P(PagedModelOn, GivesTheLogitsOfOnnxRuntime) {
  for (const Fixture& fixture : kFixtures) {
    SCOPED_TRACE(fixture.folder);
    const test::Golden golden = test::golden_of(fixture.folder);
    const LoadedModel model = load(fixture.folder, GetParam());
    ASSERT_TRUE(model.paged) << model.why_dense;
    EXPECT_LE(distance(logits_alone(*model.decoder, golden.prompt), golden.logits), fixture.tolerance);
  }
}

TEST_P(PagedModelOn, AnswersWithTheTokensOfOnnxRuntime) {
  for (const Fixture& fixture : kFixtures) {
    SCOPED_TRACE(fixture.folder);
    const test::Golden golden = test::golden_of(fixture.folder);
    test::LoadedEngine engine(load(fixture.folder, GetParam()));
    EXPECT_EQ(engine.answer(test::greedy(golden.prompt, static_cast<int>(golden.greedy.size()))), golden.greedy);
  }
}

TEST_P(PagedModelOn, PagedAttentionAndTheInt4RouteRan) {
  nxrt::GateForTest gate(nxrt::gates::dispatch_ledger());
  nxrt::ledger().reset();
  const LoadedModel model = load("builder_llama_int4", GetParam());
  logits_alone(*model.decoder, random_tokens(1, 9, 320));
  const auto isa = nxrt::name_of(GetParam());
  EXPECT_TRUE(nxrt::ledger().saw("PagedAttention", isa, "f32"));
  EXPECT_FALSE(nxrt::ledger().saw("GroupQueryAttention", isa));
  bool int4 = false;
  for (const nxrt::Dispatch& entry : nxrt::ledger().entries()) {
    int4 |= entry.op == "MatMulNBits" && entry.isa == isa && entry.route.find('4') != std::string::npos;
  }
  EXPECT_TRUE(int4);
}

TEST_P(PagedModelOn, ChunkedIsWholeBitForBit) {
  for (const Fixture& fixture : kFixtures) {
    SCOPED_TRACE(fixture.folder);
    const LoadedModel model = load(fixture.folder, GetParam());
    const auto tokens = random_tokens(7, 53, model.decoder->vocab_size());
    const auto whole = logits_alone(*model.decoder, tokens);
    for (const std::vector<int>& sizes : {std::vector{1}, {2}, {5, 1, 13, 16}, {16}, {17}, {52, 1}}) {
      EXPECT_EQ(logits_alone(*model.decoder, tokens, sizes, 3), whole) << sizes[0];
    }
  }
}

INSTANTIATE_EVERY_ISA(PagedModelOn);

// Any mix of chunks of any sequences, over blocks in any order, gives each sequence what it gets alone.
void expect_neighbours_do_not_matter(DecoderModel& model, int most_tokens) {
  EXPECT_TRUE(rc::check([&] {
    const auto count = *rc::gen::inRange(1, 5);
    const auto seed = static_cast<uint32_t>(*rc::gen::inRange(0, 1 << 20));
    StepBench bench(model, seed);
    std::vector<std::vector<TokenId>> prompts;
    for (int i = 0; i < count; ++i) {
      const int length = *rc::gen::inRange(1, most_tokens);
      prompts.push_back(random_tokens(seed + static_cast<uint32_t>(i), length, model.vocab_size()));
      bench.add(prompts.back());
    }
    for (;;) {
      std::vector<std::pair<int, int>> parts;
      int64_t room = model.max_step_rows(), left = 0;
      for (int i = 0; i < count; ++i) {
        left += bench.left(i);
        const int64_t most = std::min(bench.left(i), room);
        const bool joins = *rc::gen::weightedElement<bool>({{3, true}, {1, false}});
        if (most == 0 || !joins) continue;
        const int64_t rows =
            *rc::gen::weightedElement<bool>({{1, true}, {1, false}}) ? 1 : *rc::gen::inRange<int64_t>(1, most + 1);
        parts.emplace_back(i, static_cast<int>(rows));
        room -= rows;
      }
      if (left == 0) break;
      if (!parts.empty()) bench.step(parts);
    }
    for (int i = 0; i < count; ++i) {
      const auto alone = logits_alone(model, prompts[static_cast<size_t>(i)]);
      RC_ASSERT(bench.logits(i) == alone);
    }
  }));
}

TEST(PagedModel, NeighboursDoNotMatterInFloat) {
  const LoadedModel model = load("builder_llama_fp32", nxrt::best_isa(), 1);
  expect_neighbours_do_not_matter(*model.decoder, 28);
}

TEST(PagedModel, NeighboursDoNotMatterInInt4) {
  const LoadedModel model = load("builder_llama_int4", nxrt::best_isa());
  expect_neighbours_do_not_matter(*model.decoder, 28);
}

TEST(PagedModel, NeighboursDoNotMatterWithHalfPrecisionCaches) {
  nxrt::Workers workers(2);
  const auto model = test::paged_model(test::gqa_decoder(), workers, nxrt::DType::f16);
  expect_neighbours_do_not_matter(*model, 30);
}

// A request among strangers in a pool that is too small for all, after forks and rewinds: the tokens it gets alone.
TEST(PagedModel, AnEngineUnderPressureGivesEachRequestItsOwnTokens) {
  const auto fresh = [](int64_t blocks) {
    LoadedModel model = load("builder_llama_int4", nxrt::best_isa(), 1);
    const int64_t bytes = blocks * model.decoder->kv_layout().block_bytes;
    return test::LoadedEngine(
        std::move(model),
        {.kv_bytes = bytes, .scheduler = {.max_sequences = 6, .reserve_tokens = 16}, .output_buffer = 64});
  };
  test::LoadedEngine calm = fresh(200), tight = fresh(11);
  std::vector<std::vector<TokenId>> prompts;
  for (uint32_t i = 0; i < 8; ++i) prompts.push_back(random_tokens(i, 5 + 9 * static_cast<int>(i), 320));
  std::vector<Ticket> tickets;
  for (const auto& prompt : prompts) tickets.push_back(tight.engine->submit(test::greedy(prompt, 40)));
  for (size_t i = 0; i < prompts.size(); ++i) {
    std::vector<TokenId> tokens;
    for (const Event& event : tight.finish(tickets[i])) {
      if (event.token.valid()) tokens.push_back(event.token);
    }
    EXPECT_EQ(tokens, calm.answer(test::greedy(prompts[i], 40))) << i;
  }
  EXPECT_GT(tight.engine->stats().preemptions, 0) << "the pool was meant to be too small";
}

TEST(PagedModel, ForksAndRewindsEqualAFreshStart) {
  test::LoadedEngine engine(load("builder_llama_fp32", nxrt::best_isa(), 1)),
      other(load("builder_llama_fp32", nxrt::best_isa(), 1));
  const auto turn = [&](ContextId context, const std::vector<TokenId>& prompt) {
    Request request = test::greedy(prompt, 9);
    request.context = context;
    return engine.answer(std::move(request));
  };
  const ContextId a = engine.engine->create_context();
  turn(a, random_tokens(1, 30, 320));
  const auto history = engine.engine->tokens(a);
  for (const int64_t position : {38, 33, 32, 31, 17, 16, 15, 1}) {
    SCOPED_TRACE(position);
    const ContextId b = engine.engine->fork(a, position);
    const auto next = random_tokens(static_cast<uint32_t>(position), 7, 320);
    std::vector<TokenId> whole(history.begin(), history.begin() + position);
    whole.insert(whole.end(), next.begin(), next.end());
    const auto expected = other.answer(test::greedy(whole, 9));
    EXPECT_EQ(turn(b, next), expected);
    engine.engine->rewind(b, position);
    EXPECT_EQ(turn(b, next), expected) << "rewound";
  }
  EXPECT_EQ(engine.engine->tokens(a), history);
}

std::vector<std::pair<const char*, std::string>> decoders() {
  const std::string gqa = test::gqa_decoder();
  const std::string last = "seqlens, total, w_cos, w_sin) as \"attention1\"";
  const std::string norms =
      test::with(test::with(gqa, last, "seqlens, total, w_cos, w_sin, , , , , , w_qn, w_kn) as \"attention1\""),
                 "f32[16] w_norm", "f32[8] w_qn, f32[8] w_kn, f32[16] w_norm");
  return {
      {"gqa", gqa},
      {"rotary nodes", test::position_ids_decoder(test::kRotaryNodes)},
      {"gathered rotary", test::position_ids_decoder(test::kGatheredRotary)},
      {"i32 ids", test::with(gqa, "i64[B, S] input_ids", "i32[B, S] input_ids")},
      {"i32 positions", test::with(test::position_ids_decoder(test::kGatheredRotary), "i64[B, S] position_ids",
                                   "i32[B, S] position_ids")},
      {"window", test::everywhere(gqa, "do_rotary = 1>", "do_rotary = 1, local_window_size = 5>")},
      {"head sinks", test::with(test::with(gqa, last, "seqlens, total, w_cos, w_sin, , , w_sink) as \"attention1\""),
                                "f32[16] w_norm", "f32[2] w_sink, f32[16] w_norm")},
      {"query and key norms", norms},
      {"norm epsilon", test::everywhere(norms, "do_rotary = 1>", "do_rotary = 1, qk_norm_epsilon = 0.5>")}};
}

TEST(PagedModel, EqualsTheDensePath) {
  nxrt::Workers workers(2);
  for (const auto& [name, text] : decoders()) {
    SCOPED_TRACE(name);
    const auto paged = test::paged_model(text, workers);
    const auto dense = test::dense_model(text, workers);
    const auto tokens = random_tokens(5, 37, test::kTinyVocab);
    const auto expected = logits_alone(*dense, tokens);
    EXPECT_LE(distance(logits_alone(*paged, tokens, {7}), expected), 1e-5f);
    EXPECT_LE(distance(logits_alone(*dense, tokens, {7}), expected), 1e-5f);
  }
}

TEST(PagedModel, HalfPrecisionModels) {
  nxrt::Workers workers(2);
  const std::string text = test::everywhere(test::gqa_decoder(), "f32[", "f16[");
  const auto tokens = random_tokens(5, 37, test::kTinyVocab);
  const auto expected = logits_alone(*test::dense_model(test::gqa_decoder(), workers), tokens);
  EXPECT_LE(distance(logits_alone(*test::paged_model(text, workers, nxrt::DType::f16), tokens), expected), 5e-3f);
  EXPECT_LE(distance(logits_alone(*test::paged_model(text, workers), tokens), expected), 5e-3f);
  EXPECT_LE(distance(logits_alone(*test::dense_model(text, workers), tokens, {5}), expected), 5e-3f);
  const auto cached = test::paged_model(test::gqa_decoder(), workers, nxrt::DType::f16);
  EXPECT_LE(distance(logits_alone(*cached, tokens, {5}), expected), 2e-3f) << "float with caches in half precision";
}

TEST(PagedModel, RefusesAStepThatIsTooLarge) {
  nxrt::Workers workers(1);
  const auto model = test::paged_model(test::gqa_decoder(), workers);
  const auto tokens = random_tokens(5, 49, test::kTinyVocab);
  EXPECT_THROW(logits_alone(*model, tokens), Error);
}

}  // namespace
}  // namespace genai
