#include "gen/prompt_lookup.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace genai {
namespace {

std::vector<TokenId> ids(std::initializer_list<int> values) {
  std::vector<TokenId> tokens;
  for (const int v : values) tokens.emplace_back(v);
  return tokens;
}

struct Lookup {
  Proposal propose(std::vector<TokenId> tokens, int most = 4) {
    sequence.id = SequenceId(1);
    sequence.tokens = std::move(tokens);
    asks = {{.sequence = &sequence, .sampling = nullptr, .most = most, .proposal = {}}};
    lookup.propose(asks);
    return asks[0].proposal;
  }
  PromptLookup lookup;
  Sequence sequence;
  std::vector<Ask> asks;
};

TEST(PromptLookup, ProposesWhatFollowedTheLastTime) {
  Lookup l;
  EXPECT_EQ(l.propose(ids({1, 2, 3, 4, 5, 6, 7, 9, 1, 2, 3})).tokens, ids({4, 5, 6, 7}));
  EXPECT_EQ(l.propose(ids({1, 2, 3, 4, 5, 6, 7, 9, 1, 2, 3, 4})).tokens, ids({5, 6, 7, 9}));
}

TEST(PromptLookup, ProposesNothingWithoutThreeEqualTokens) {
  Lookup l;
  EXPECT_TRUE(l.propose(ids({1})).tokens.empty());
  EXPECT_TRUE(l.propose(ids({1, 2})).tokens.empty());
  EXPECT_TRUE(l.propose(ids({1, 2, 3})).tokens.empty());
  EXPECT_TRUE(l.propose(ids({1, 2, 3, 4, 9, 2, 3})).tokens.empty());
}

TEST(PromptLookup, TheLongestCommonEndingCountsAndTheLatestOfEquals) {
  Lookup l;
  EXPECT_EQ(l.propose(ids({8, 1, 2, 3, 5, 7, 1, 2, 3, 6, 8, 1, 2, 3}), 1).tokens, ids({5}));
  Lookup m;
  EXPECT_EQ(m.propose(ids({8, 1, 2, 3, 5, 7, 1, 2, 3, 6, 9, 1, 2, 3}), 1).tokens, ids({6}));
}

TEST(PromptLookup, AShortPeriodGoesOnInTheProposal) {
  Lookup l;
  EXPECT_EQ(l.propose(ids({1, 2, 1, 2, 1, 2}), 5).tokens, ids({1, 2, 1, 2, 1}));
  Lookup m;
  EXPECT_EQ(m.propose(ids({7, 7, 7, 7}), 3).tokens, ids({7, 7, 7}));
}

TEST(PromptLookup, LearnsHowOftenItIsRight) {
  Lookup l;
  const auto tokens = ids({1, 2, 3, 4, 5, 6, 7, 9, 1, 2, 3});
  const float first = l.propose(tokens).chance[0];
  for (int i = 0; i < 40; ++i) l.lookup.learn(l.asks[0], 0, TokenId(4));
  const float right = l.propose(tokens).chance[0];
  for (int i = 0; i < 40; ++i) l.lookup.learn(l.asks[0], 0, TokenId(5));
  const float wrong = l.propose(tokens).chance[0];
  EXPECT_GT(right, 0.8f);
  EXPECT_LT(wrong, 0.2f);
  EXPECT_LT(wrong, first + 0.1f);
}

TEST(PromptLookup, KnowsNothingOfAnotherSequencesTokens) {
  Lookup l;
  l.propose(ids({1, 2, 3, 4, 5, 6, 7, 9, 1, 2, 3}));
  Sequence other;
  other.id = SequenceId(2);
  other.tokens = ids({5, 1, 2, 3});
  std::vector<Ask> asks = {{.sequence = &other, .sampling = nullptr, .most = 4, .proposal = {}}};
  l.lookup.propose(asks);
  EXPECT_TRUE(asks[0].proposal.tokens.empty());
}

// The definition: every earlier place is looked at.
RunIndex::Match definition(std::span<const TokenId> tokens) {
  RunIndex::Match best;
  for (int64_t at = 0; at + 1 < static_cast<int64_t>(tokens.size()); ++at) {
    int64_t length = 0;
    while (length <= at && length < RunIndex::kLongest && tokens[at - length] == tokens[tokens.size() - 1 - length]) {
      ++length;
    }
    if (length >= RunIndex::kLeast && length >= best.length) best = {.next = at + 1, .length = length};
  }
  return best;
}

TEST(PromptLookup, FindsWhatASearchOfEverythingFinds) {
  EXPECT_TRUE(rc::check([] {
    const int vocab = *rc::gen::element(3, 8, 40);
    const auto values =
        *rc::gen::resize(300, rc::gen::container<std::vector<int>>(rc::gen::resize(100, rc::gen::inRange(0, vocab))));
    std::vector<TokenId> tokens;
    RunIndex index;
    for (const int v : values) {
      index.follow(tokens);
      tokens.emplace_back(v);
      const RunIndex::Match expected = definition(tokens), found = index.longest(tokens);
      // Among too many candidates the best may lie beyond those that are looked at.
      RC_ASSERT((found.length == 0) == (expected.length == 0));
      RC_ASSERT(found.length <= expected.length);
      if (vocab == 40) RC_ASSERT(found.length == expected.length && found.next == expected.next);
    }
  }));
}

}  // namespace
}  // namespace genai
