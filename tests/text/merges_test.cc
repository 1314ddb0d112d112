#include "text/merges.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

namespace genai {
namespace {
using Rules = std::map<std::pair<int32_t, int32_t>, Merges::Rule>;

// The definition: join the leftmost pair of lowest rank until there is none.
std::vector<int32_t> naive(std::vector<int32_t> symbols, const Rules& rules) {
  while (true) {
    size_t best = symbols.size();
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto rule = rules.find({symbols[i], symbols[i + 1]});
      if (rule == rules.end()) continue;
      if (best == symbols.size() || rule->second.rank < rules.at({symbols[best], symbols[best + 1]}).rank) best = i;
    }
    if (best == symbols.size()) return symbols;
    symbols[best] = rules.at({symbols[best], symbols[best + 1]}).id;
    symbols.erase(symbols.begin() + best + 1);
  }
}

TEST(Merges, EqualTheirDefinition) {
  EXPECT_TRUE(rc::check([] {
    Merges merges;
    Rules rules;
    int32_t next = 3;  // symbols 0, 1, 2 and what merges make of them, each pair its own token
    for (uint32_t rank = 0; rank < 30; ++rank) {
      const int32_t left = *rc::gen::inRange(0, next), right = *rc::gen::inRange(0, next);
      if (rules.contains({left, right})) continue;
      rules[{left, right}] = {rank, next};
      merges.add(left, right, {rank, next++});
    }
    const auto length = *rc::gen::element<size_t>(0, 1, 2, 3, 20, 47, 48, 49, 50, 200);
    auto symbols = *rc::gen::container<std::vector<int32_t>>(length, rc::gen::inRange(0, 3));
    const auto expected = naive(symbols, rules);
    merges.apply(symbols);
    RC_ASSERT(symbols == expected);
  }));
}

TEST(Merges, TheLastRuleOfAPairCounts) {
  Merges merges;
  merges.add(1, 2, {0, 7});
  merges.add(1, 2, {5, 8});
  EXPECT_EQ(merges.find(1, 2).id, 8);
  EXPECT_EQ(merges.find(2, 1).rank, Merges::kNone);
}

}  // namespace
}  // namespace genai
