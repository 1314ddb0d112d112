// A draft model beside the fake model: it is as good as its own cache, which the fake model reads back token by token.
#include "gen/draft_model.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "gen/engine_bench.h"
#include "gen/fixture_model.h"

namespace genai {
namespace {

constexpr int kVocab = EngineBench::kVocab;

struct Drafted {
  explicit Drafted(float draft_repeats = 0, float repeats = 0, int64_t blocks = 200, int draft_context = 4096) {
    auto owned = std::make_shared<FakeModel>(
        FakeModel::Options{.vocab_size = kVocab, .context_length = draft_context, .repeats = draft_repeats});
    draft = owned.get();
    bench.emplace(
        EngineOptions{.speculation = {.draft = owned, .draft_kv_bytes = blocks * owned->kv_layout().block_bytes},
                      .output_buffer = 1000},
        FakeModel::Options{.vocab_size = kVocab, .repeats = repeats});
  }
  // A step of the model takes 10 ms and a tenth more per row, one of the draft `draft_ms`.
  void costs(double draft_ms) {
    bench->model->before_forward = [this](const Step& step) {
      size_t rows = 0;
      for (const StepSequence& s : step.sequences) rows += s.tokens.size();
      bench->clock += 9 + static_cast<double>(rows);
    };
    draft->before_forward = [this, draft_ms](const Step&) { bench->clock += draft_ms; };
  }
  FakeModel* draft;
  std::optional<EngineBench> bench;
};

TEST(DraftModel, APerfectDraftIsAlwaysRight) {
  Drafted d;
  d.costs(0.1);
  const auto prompt = EngineBench::prompt(1, 40);
  const auto events = d.bench->run(EngineBench::greedy(prompt, 200));
  EXPECT_EQ(tokens_of(events), EngineBench::expected(prompt, 200));
  const Usage& usage = events.back().usage;
  EXPECT_EQ(usage.accepted_tokens, usage.proposed_tokens);
  EXPECT_LT(d.bench->model->steps, 60);
  EXPECT_GT(usage.accepted_tokens, 140);
}

TEST(DraftModel, APerfectDraftIsRightWhateverTheSamplingAndTheNeighbours) {
  Drafted d;
  d.costs(0.1);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 8; ++i) {
    Request request = EngineBench::greedy(EngineBench::prompt(i % 3, 20 + 11 * (i % 3)), 100);
    request.sampling = {.temperature = 1, .top_p = 0.9f, .repetition_penalty = 1.1f, .seed = 5};
    if (i % 2 == 1) request.sampling.mirostat.version = 2;
    if (i == 3) request.n = 3;
    tickets.push_back(d.bench->engine->submit(request));
    d.bench->steps(5);
  }
  for (Ticket& ticket : tickets) {
    const auto events = d.bench->finish(ticket);
    EXPECT_GE(tokens_of(events).size(), 100u);
    EXPECT_EQ(events.back().usage.accepted_tokens, events.back().usage.proposed_tokens);
  }
  EXPECT_GT(d.bench->engine->stats().accepted_tokens, 300);
}

TEST(DraftModel, AWrongGuessIsWrittenOver) {
  Drafted d(60, 6);  // the draft goes by the latest token almost alone
  d.costs(0.1);
  const auto prompt = EngineBench::prompt(1, 40);
  const auto events = d.bench->run(EngineBench::greedy(prompt, 400));
  EXPECT_EQ(tokens_of(events), FakeModel::greedy_answer(prompt, 400, kVocab, 6));
  const Usage& usage = events.back().usage;
  EXPECT_LT(usage.accepted_tokens, usage.proposed_tokens);
  EXPECT_GT(usage.accepted_tokens, 100);
}

// Sequences that take some of what was proposed and then something else, end, and share beginnings.
void random_following(int64_t blocks) {
  auto owned = std::make_shared<FakeModel>(FakeModel::Options{.vocab_size = kVocab, .repeats = 6});
  DraftModel draft(owned, blocks * owned->kv_layout().block_bytes, kVocab, [] { return 0.0; });
  const SamplingState sampling({.temperature = 0}, 0, 0);
  std::vector<Sequence> sequences(3);
  std::vector<Proposal> proposals(3);
  int64_t next_id = 0;
  const auto begin_anew = [&](size_t i, int length) {
    if (sequences[i].id.valid()) draft.forget(sequences[i].id);
    sequences[i] = {.id = SequenceId(next_id++), .tokens = EngineBench::prompt(1, length)};
    proposals[i] = {};
  };
  for (size_t i = 0; i < 3; ++i) begin_anew(i, 20);
  const auto actions =
      *rc::gen::resize(60, rc::gen::container<std::vector<std::tuple<int, int, int>>>(rc::gen::tuple(
                               rc::gen::inRange(0, 12), rc::gen::inRange(0, 9), rc::gen::inRange(0, kVocab))));
  for (const auto& [action, take, other] : actions) {
    const size_t which = static_cast<size_t>(action) % 3;
    if (action == 11) begin_anew(which, 10 + 3 * other);
    Sequence& s = sequences[which];
    const std::vector<TokenId>& proposed = proposals[which].tokens;
    const size_t right = std::min(static_cast<size_t>(take), proposed.size());
    s.tokens.insert(s.tokens.end(), proposed.begin(), proposed.begin() + static_cast<ptrdiff_t>(right));
    s.tokens.emplace_back(other);
    std::vector<Ask> asks;
    for (const Sequence& each : sequences) asks.push_back({&each, &sampling, 1 + (take + other) % 8, {}});
    if (other % 4 == 0) asks.erase(asks.begin());  // one isn't asked this time
    draft.propose(asks);
    for (const Ask& ask : asks) {
      const auto alone = FakeModel::greedy_answer(ask.sequence->tokens, ask.most, kVocab, 6);
      RC_ASSERT(static_cast<int>(ask.proposal.tokens.size()) <= ask.most);
      RC_ASSERT(std::equal(ask.proposal.tokens.begin(), ask.proposal.tokens.end(), alone.begin()));
      RC_ASSERT(blocks < 100 || !ask.proposal.tokens.empty());
      for (size_t i = 0; i < sequences.size(); ++i) {
        if (ask.sequence == &sequences[i]) proposals[i] = ask.proposal;
      }
    }
  }
}

TEST(DraftModel, ProposesWhatItWouldSayAlone) {
  EXPECT_TRUE(rc::check([] { random_following(200); }));
}

TEST(DraftModel, ProposesWhatItWouldSayAloneOrNothingWhereMemoryIsShort) {
  EXPECT_TRUE(rc::check([] { random_following(12); }));
}

TEST(DraftModel, IsLeftAloneWhenItDoesNotPay) {
  Drafted dear;
  dear.costs(20);
  EXPECT_EQ(tokens_of(dear.bench->run(EngineBench::greedy(EngineBench::prompt(1, 40), 1000))).size(), 1000u);
  EXPECT_LT(dear.draft->steps, 60);
  Drafted wrong(60, 0);
  wrong.costs(1);
  EXPECT_EQ(tokens_of(wrong.bench->run(EngineBench::greedy(EngineBench::prompt(1, 40), 1000))).size(), 1000u);
  EXPECT_LT(wrong.draft->steps, 120);
}

TEST(DraftModel, ReadsALongPromptInPieces) {
  Drafted d;
  d.costs(0.1);
  const auto prompt = EngineBench::prompt(1, 1000);
  d.draft->before_forward = [&](const Step& step) {
    size_t rows = 0;
    for (const StepSequence& s : step.sequences) rows += s.tokens.size();
    EXPECT_LE(rows, 64u);
  };
  const auto events = d.bench->run(EngineBench::greedy(prompt, 100));
  EXPECT_EQ(tokens_of(events), EngineBench::expected(prompt, 100));
  EXPECT_GT(events.back().usage.accepted_tokens, 50);
}

TEST(DraftModel, ProposesNothingBeyondItsContextOrItsMemory) {
  Drafted context(0, 0, 200, 100);
  context.costs(0.1);
  context.draft->before_forward = [](const Step& step) {
    for (const StepSequence& s : step.sequences) EXPECT_LE(s.past + static_cast<int64_t>(s.tokens.size()), 100);
  };
  const auto prompt = EngineBench::prompt(1, 40);
  EXPECT_EQ(tokens_of(context.bench->run(EngineBench::greedy(prompt, 200))), EngineBench::expected(prompt, 200));
  Drafted memory(0, 0, 5);
  memory.costs(0.1);
  EXPECT_EQ(tokens_of(memory.bench->run(EngineBench::greedy(prompt, 200))), EngineBench::expected(prompt, 200));
}

TEST(DraftModel, ItsFailureEndsTheDraftingAndNothingElse) {
  Drafted d;
  d.costs(0.1);
  d.draft->after_row = [](const StepSequence& s, std::span<float> logits) {
    if (s.past > 80) logits[0] = std::nanf("");
  };
  const auto prompt = EngineBench::prompt(1, 40);
  const auto events = d.bench->run(EngineBench::greedy(prompt, 100));
  EXPECT_EQ(tokens_of(events), EngineBench::expected(prompt, 100));
  EXPECT_NE(d.bench->engine->stats().draft_failure.find("NaN"), std::string::npos);
}

TEST(DraftModel, MustBePagedAndHaveEveryToken) {
  const auto engine = [](const FakeModel::Options& facts) {
    EngineBench bench({.speculation = {.draft = std::make_shared<FakeModel>(facts)}});
  };
  EXPECT_THROW(engine({.vocab_size = kVocab, .paged = false}), Error);
  EXPECT_THROW(engine({.vocab_size = kVocab - 1}), Error);
  EXPECT_NO_THROW(engine({.vocab_size = kVocab + 9}));
}

TEST(DraftModel, ARealModelDraftsForItself) {
  LoadedModel model = load_model(test::fixture_folder("builder_llama_int4"), {.threads = 1});
  LoadedModel draft = load_draft(test::fixture_folder("builder_llama_int4"), {}, model);
  EXPECT_EQ(draft.workers, model.workers);
  const test::Golden golden = test::golden_of("builder_llama_int4");
  test::LoadedEngine engine(std::move(model),
                            {.speculation = {.prompt_lookup = true, .draft = std::move(draft.decoder)}});
  EXPECT_EQ(engine.answer(test::greedy(golden.prompt, static_cast<int>(golden.greedy.size()))), golden.greedy);
}

TEST(DraftModel, ATokenOfAnotherVocabularyIsNamed) {
  const auto original = test::fixture_folder("builder_llama_int4");
  const LoadedModel model = load_model(original, {.threads = 1});
  const auto folder = std::filesystem::path(testing::TempDir()) / "draft_of_another_vocabulary";
  std::filesystem::copy(original, folder, std::filesystem::copy_options::recursive);
  const std::string token = model.tokenizer->token(TokenId(7));
  nlohmann::json tokenizer = nlohmann::json::parse(std::ifstream(folder / "tokenizer.json"));
  nlohmann::json& vocabulary = tokenizer["model"]["vocab"];
  vocabulary.erase(token);
  vocabulary["another"] = 7;
  std::ofstream(folder / "tokenizer.json") << tokenizer;
  try {
    load_draft(folder, {}, model);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("token 7 is 'another' in the draft model, '" + token + "' in the model"),
              std::string::npos)
        << error.text();
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace genai
