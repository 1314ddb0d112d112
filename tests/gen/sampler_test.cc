#include "gen/sampler.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "gen/dry.h"
#include "gen/logprobs.h"
#include "gen/philox.h"

namespace genai {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<TokenId> ids(std::initializer_list<int> values) {
  std::vector<TokenId> tokens;
  for (const int v : values) tokens.emplace_back(v);
  return tokens;
}

std::vector<float> random_logits(size_t count, uint32_t seed) {
  std::mt19937 source(seed);
  std::normal_distribution<float> normal(0, 2);
  std::vector<float> logits(count);
  for (float& x : logits) x = normal(source);
  return logits;
}

TokenId pick(std::span<const float> logits, const SamplingOptions& options, std::span<const TokenId> tokens = {},
             int64_t prompt = 0, uint64_t seed = 1) {
  Sampler sampler;
  SamplingState state(options, seed, 0);
  return sampler.pick(logits, state, tokens, prompt);
}

// The published known answers of philox4x32-10.
TEST(Philox, GivesTheKnownAnswers) {
  using Four = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kAll = 0xffffffff;
  EXPECT_EQ(philox({kAll, kAll, kAll, kAll}, {kAll, kAll}), (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Sampler, GreedyTakesTheLargestAndOfEqualsTheLowest) {
  for (const size_t size : {1, 2, 7, 8, 9, 16, 63, 1001}) {
    SCOPED_TRACE(size);
    std::vector<float> logits(size, -3);
    EXPECT_EQ(pick(logits, {.temperature = 0}), TokenId(0));
    logits[size - 1] = 5;
    EXPECT_EQ(pick(logits, {.temperature = 0}), TokenId(static_cast<int>(size) - 1));
    logits[size / 2] = 5;
    EXPECT_EQ(pick(logits, {.temperature = 0}), TokenId(static_cast<int>(size) / 2));
    EXPECT_EQ(pick(logits, {.top_k = 1}), TokenId(static_cast<int>(size) / 2));
    EXPECT_EQ(pick(logits, {.top_p = 0}), TokenId(static_cast<int>(size) / 2));
  }
}

TEST(Sampler, RefusesLogitsThatAreNotNumbers) {
  for (const float wrong : {std::nanf(""), -std::nanf(""), kInfinity}) {
    for (const size_t at : {0, 5, 8, 18}) {
      std::vector<float> logits(19, 1);
      logits[at] = wrong;
      EXPECT_THROW(pick(logits, {.temperature = 0}), Error);
      EXPECT_THROW(pick(logits, {}), Error);
    }
  }
  EXPECT_THROW(pick(std::vector<float>(19, -kInfinity), {}), Error);
  std::vector<float> one(19, -kInfinity);
  one[17] = -4;
  EXPECT_EQ(pick(one, {}), TokenId(17));
  EXPECT_EQ(pick(one, {.temperature = 1e-30f}), TokenId(17));
}

TEST(Sampler, BiasSuppressionAndConstraintComeBeforeTheChoice) {
  const std::vector<float> logits = {1, 2, 3, 4};
  EXPECT_EQ(pick(logits, {.temperature = 0, .logit_bias = {{TokenId(1), 2.5f}}}), TokenId(1));
  EXPECT_EQ(pick(logits, {.temperature = 0, .suppress_tokens = ids({3})}), TokenId(2));
  EXPECT_THROW(pick(logits, {.temperature = 0, .suppress_tokens = ids({0, 1, 2, 3})}), Error);

  struct Only : TokenConstraint {
    uint64_t bits[1] = {0b0001};
    std::span<const uint64_t> allowed() override { return bits; }
    void accept(TokenId) override {}
    std::unique_ptr<TokenConstraint> fresh() const override { return std::make_unique<Only>(); }
  } only;
  Sampler sampler;
  SamplingState state({.temperature = 0}, 1, 0);
  EXPECT_EQ(sampler.pick(logits, state, {}, 0, &only), TokenId(0));
}

TEST(Sampler, PenaltiesMatchTheirDefinition) {
  // Window 3 of prompt {0, 1} + generated {1, 2}: tokens 1, 1, 2.
  TokenCounts counts;
  const auto tokens = ids({0, 1, 1, 2});
  counts.follow(std::span(tokens).first(2), 2, 3);
  counts.follow(tokens, 2, 3);
  std::vector<float> logits = {2, 2, -2, 2};
  apply_penalties({.repetition_penalty = 2, .frequency_penalty = 0.5f, .presence_penalty = 0.25f}, counts, logits);
  EXPECT_FLOAT_EQ(logits[0], 2);                 // left the window, never generated
  EXPECT_FLOAT_EQ(logits[1], 1 - 0.5f - 0.25f);  // generated once
  EXPECT_FLOAT_EQ(logits[2], -4 - 0.5f - 0.25f);
  EXPECT_FLOAT_EQ(logits[3], 2);
}

TEST(Sampler, DryMatchesItsDefinition) {
  EXPECT_TRUE(rc::check([] {
    const auto values = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
    std::vector<TokenId> tokens;
    for (const int v : values) tokens.emplace_back(v);
    DryOptions options{.multiplier = 0.5f, .base = 2, .allowed_length = *rc::gen::inRange(1, 4)};
    if (*rc::gen::arbitrary<bool>()) options.breakers = ids({3});
    std::vector<float> logits(4, 0);
    apply_dry(options, tokens, logits);

    const int n = static_cast<int>(tokens.size());
    std::vector<double> expected(4, 0);
    for (int i = 1; i < n; ++i) {  // token i follows a text that ends at i − 1
      int length = 0;
      while (length < i && tokens[i - 1 - length] == tokens[n - 1 - length] &&
             (options.breakers.empty() || tokens[n - 1 - length] != TokenId(3))) {
        ++length;
      }
      if (length < options.allowed_length) continue;
      const double penalty = 0.5 * std::pow(2.0, length - options.allowed_length);
      expected[tokens[i].value] = std::max(expected[tokens[i].value], penalty);
    }
    for (int t = 0; t < 4; ++t) RC_ASSERT(std::abs(logits[t] + std::min(expected[t], 1e30)) <= 1e-6 * expected[t]);
  }));
}

struct Definition {  // by sorting everything, in double
  std::vector<Candidate> list;
  Definition(std::span<const float> logits, double temperature) {
    for (size_t i = 0; i < logits.size(); ++i) {
      list.push_back({static_cast<int32_t>(i), logits[i], std::exp(logits[i] / temperature)});
    }
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.logit > b.logit; });
    renormalize();
  }
  void renormalize() {
    double sum = 0;
    for (const auto& c : list) sum += c.p;
    for (auto& c : list) c.p /= sum;
  }
  void cut(size_t count) {
    list.resize(std::min(list.size(), count));
    renormalize();
  }
  void at_least(double p) {
    while (list.size() > 1 && list.back().p < p) list.pop_back();
    renormalize();
  }
  void top_p(double p) {
    double sum = 0;
    size_t count = 0;
    while (count < list.size() && sum < p) sum += list[count++].p;
    cut(std::max<size_t>(count, 1));
  }
};

void expect_same(const Candidates& got, const Definition& expected) {
  std::map<int, double> p;
  for (const Candidate& c : got.items()) p[c.token] = c.p;
  ASSERT_EQ(p.size(), expected.list.size());
  for (const Candidate& c : expected.list) EXPECT_NEAR(p.at(c.token), c.p, 1e-6) << c.token;
}

TEST(Candidates, FiltersMatchTheirDefinitions) {
  for (const size_t size : {1, 2, 63, 64, 65, 257, 5000}) {
    for (const float temperature : {0.5f, 1.0f, 3.0f}) {
      SCOPED_TRACE(size);
      const std::vector<float> logits = random_logits(size, static_cast<uint32_t>(size));
      Candidates c;
      c.assign(logits, temperature, 0);
      Definition d(logits, temperature);
      expect_same(c, d);
      c.keep_top_p(0.97f);
      d.top_p(0.97f);
      expect_same(c, d);
      c.keep_min_p(0.05f);
      d.at_least(0.05f * d.list[0].p);
      expect_same(c, d);
      c.keep_top_a(0.3f);
      d.at_least(static_cast<double>(0.3f) * d.list[0].p * d.list[0].p);
      expect_same(c, d);
      c.assign(logits, temperature, 40);
      Definition k(logits, temperature);
      k.cut(40);
      expect_same(c, k);
    }
  }
}

TEST(Candidates, TopPOfEqualsNeverLeavesNothing) {
  for (const size_t size : {1, 3, 7, 49, 1000}) {
    for (const float top_p : {0.0f, 0.5f, 0.99999994f}) {
      Candidates c;
      c.assign(std::vector<float>(size, 1.5f), 1, 0);
      c.keep_top_p(top_p);
      EXPECT_GE(static_cast<double>(c.items().size()), top_p * static_cast<double>(size) - 1);
      EXPECT_GE(c.items().size(), 1u);
    }
  }
}

TEST(Candidates, TopKOfEqualsKeepsTheLowestIds) {
  Candidates c;
  c.assign(std::vector<float>(100, 1.5f), 1, 3);
  c.sort_front(3);
  EXPECT_EQ(c.items()[0].token, 0);
  EXPECT_EQ(c.items()[2].token, 2);
}

TEST(Candidates, TypicalKeepsWhatIsNearestTheEntropy) {
  // p = 0.5, 0.25, 0.125, 0.125: entropy 1.2130 nats; surprises 0.693, 1.386, 2.079, 2.079.
  const std::vector<float> logits = {std::log(0.5f), std::log(0.25f), std::log(0.125f), std::log(0.125f)};
  Candidates c;
  c.assign(logits, 1, 0);
  c.keep_typical(0.2f);
  ASSERT_EQ(c.items().size(), 1u);
  EXPECT_EQ(c.items()[0].token, 1);
  c.assign(logits, 1, 0);
  c.keep_typical(0.6f);
  ASSERT_EQ(c.items().size(), 2u);
  EXPECT_NEAR(c.items()[1].p, 0.5 / 0.75, 1e-6);
}

TEST(Candidates, XtcLeavesOnlyTheLeastOfTheTopChoices) {
  const std::vector<float> logits = {std::log(0.4f), std::log(0.3f), std::log(0.2f), std::log(0.1f)};
  Candidates c;
  c.assign(logits, 1, 0);
  c.drop_above(0.15);
  ASSERT_EQ(c.items().size(), 2u);
  EXPECT_EQ(c.items()[0].token, 2);
  EXPECT_NEAR(c.items()[0].p, 2.0 / 3, 1e-6);
  c.assign(logits, 1, 0);
  c.drop_above(0.35);  // only one above: all stay
  EXPECT_EQ(c.items().size(), 4u);
}

TEST(Candidates, ADrawOfAlmostOneStillFindsAPossibleToken) {
  Candidates c;
  c.assign(std::vector<float>{0, 1, -20000}, 1, 0);
  EXPECT_EQ(c.draw(1 - 0x1p-53).token, 1);
}

double chi_square(const std::vector<float>& logits, const SamplingOptions& options, int draws) {
  Definition d(logits, options.temperature);
  std::map<int, int> counts;
  Sampler sampler;
  SamplingState state(options, 42, 0);
  std::vector<TokenId> tokens;
  for (int i = 0; i < draws; ++i) {
    ++counts[sampler.pick(logits, state, tokens, 0).value];
    tokens.emplace_back(0);
  }
  double sum = 0;
  for (const Candidate& c : d.list) {
    const double expected = c.p * draws, difference = counts[c.token] - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

TEST(Sampler, DrawsFromTheDistribution) {
  const std::vector<float> logits = {0, 0.5f, 1, -1, 2, 1.5f, -0.5f, 0.25f};
  for (const float temperature : {0.7f, 1.0f, 2.0f}) {
    EXPECT_LT(chi_square(logits, {.temperature = temperature}, 20000), 24.3);  // 7 degrees of freedom, p = 0.001
  }
}

TEST(Sampler, SeedChoiceAndPositionGiveTheDraw) {
  const std::vector<float> logits = random_logits(500, 3);
  const auto text = [&](uint64_t seed, uint32_t choice) {
    Sampler sampler;
    SamplingState state({}, seed, choice);
    std::vector<TokenId> tokens;
    for (int i = 0; i < 40; ++i) tokens.push_back(sampler.pick(logits, state, tokens, 0));
    return tokens;
  };
  EXPECT_EQ(text(7, 0), text(7, 0));
  EXPECT_NE(text(7, 0), text(8, 0));
  EXPECT_NE(text(7, 0), text(7, 1));
  EXPECT_NE(text(7, 0), text(7ull | 1ull << 40, 0));
}

TEST(Mirostat, SteersTheSurpriseTowardsTau) {
  const std::vector<float> logits = random_logits(2000, 9);
  for (const int version : {1, 2}) {
    Sampler sampler;
    SamplingState state({.mirostat = {.version = version, .tau = 4, .eta = 0.1f}}, 5, 0);
    std::vector<TokenId> tokens;
    Candidates all;
    all.assign(logits, 1, 0);
    double surprise = 0;
    for (int i = 0; i < 3000; ++i) {
      const double before = state.mirostat.mu();
      tokens.push_back(sampler.pick(logits, state, tokens, 0));
      surprise += (before - state.mirostat.mu()) / static_cast<double>(0.1f) + 4;
    }
    EXPECT_NEAR(surprise / 3000, 4, 0.1) << version;
  }
}

TEST(Logprobs, AreTheModelsOwnDistribution) {
  const std::vector<float> logits = {1, 3, 3, -kInfinity, 0.5f};
  double sum = 0;
  for (const float x : logits) sum += std::exp(static_cast<double>(x));
  const TokenLogprob got = logprob_of(logits, TokenId(0), 10);
  EXPECT_NEAR(got.logprob, 1 - std::log(sum), 1e-6);
  ASSERT_EQ(got.top.size(), 5u);
  EXPECT_EQ(got.top[0].token, TokenId(1));
  EXPECT_EQ(got.top[1].token, TokenId(2));
  EXPECT_EQ(got.top[4].token, TokenId(3));
  EXPECT_EQ(got.top[4].logprob, -kInfinity);
  EXPECT_TRUE(logprob_of(logits, TokenId(0), 0).top.empty());
  const std::vector<float> huge = {3e38f, -3e38f};
  EXPECT_EQ(logprob_of(huge, TokenId(0), 0).logprob, 0);
}

TEST(SamplingOptions, NameTheFieldThatIsWrong) {
  const auto field_of = [](const SamplingOptions& options) -> std::string {
    try {
      validate(options, 100);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::invalid_argument);
      EXPECT_NE(e.message().find("expected"), std::string::npos);
      return e.at();
    }
    return "none";
  };
  EXPECT_EQ(field_of({}), "none");
  EXPECT_EQ(field_of({.temperature = -1}), "temperature");
  EXPECT_EQ(field_of({.temperature = std::nanf("")}), "temperature");
  EXPECT_EQ(field_of({.temperature = kInfinity}), "temperature");
  EXPECT_EQ(field_of({.top_k = -1}), "top_k");
  EXPECT_EQ(field_of({.top_p = 1.01f}), "top_p");
  EXPECT_EQ(field_of({.min_p = -0.1f}), "min_p");
  EXPECT_EQ(field_of({.top_a = 2}), "top_a");
  EXPECT_EQ(field_of({.typical_p = 2}), "typical_p");
  EXPECT_EQ(field_of({.repetition_penalty = 0}), "repetition_penalty");
  EXPECT_EQ(field_of({.logit_bias = {{TokenId(100), 1.0f}}}), "logit_bias");
  EXPECT_EQ(field_of({.suppress_tokens = ids({-1})}), "suppress_tokens");
  EXPECT_EQ(field_of({.dry = {.allowed_length = 0}}), "dry.allowed_length");
  EXPECT_EQ(field_of({.mirostat = {.version = 3}}), "mirostat.version");
  EXPECT_EQ(field_of({.xtc = {.probability = 1.5f}}), "xtc.probability");
}

}  // namespace
}  // namespace genai
