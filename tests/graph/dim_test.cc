#include "graph/dim.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace nxrt {
namespace {

const std::vector<std::string> kSymbols = {"A", "B", "seq.len", "past+now", "it's"};

// A polynomial with at most four terms of degree at most three.
rc::Gen<Dim> any_dim() {
  const auto factor = rc::gen::elementOf(kSymbols);
  const auto term =
      rc::gen::pair(rc::gen::inRange<int64_t>(-99, 100), rc::gen::container<std::vector<std::string>>(factor));
  return rc::gen::map(rc::gen::container<std::vector<std::pair<int64_t, std::vector<std::string>>>>(term),
                      [](std::vector<std::pair<int64_t, std::vector<std::string>>> terms) {
                        Dim sum = 0;
                        terms.resize(std::min<size_t>(terms.size(), 4));
                        for (auto& [coefficient, names] : terms) {
                          names.resize(std::min<size_t>(names.size(), 3));
                          Dim product = coefficient;
                          for (const auto& name : names) product = product * Dim::symbol(name);
                          sum = sum + product;
                        }
                        return sum;
                      });
}

std::optional<int64_t> at(const Dim& dim, const std::map<std::string, int64_t>& point) {
  return dim.evaluate([&](const std::string& name) { return std::optional<int64_t>(point.at(name)); });
}

std::map<std::string, int64_t> any_point() {
  std::map<std::string, int64_t> point;
  for (const auto& name : kSymbols) point[name] = *rc::gen::inRange<int64_t>(-20, 20);
  return point;
}

TEST(Dim, PrintsInCanonicalOrder) {
  const Dim t = Dim::symbol("T"), b = Dim::symbol("B");
  EXPECT_EQ((t * Dim(64) + Dim(1)).text(), "64*T + 1");
  EXPECT_EQ((t * b).text(), "B*T");
  EXPECT_EQ((Dim(-3) - t * t + b).text(), "B - T*T - 3");
  EXPECT_EQ((t - t).text(), "0");
  EXPECT_EQ(Dim::unknown().text(), "?");
  EXPECT_EQ(Dim(INT64_MIN).text(), "-9223372036854775808");
}

TEST(Dim, RefusesWhatIsNoPolynomial) {
  const std::string deep(1000, '(');
  for (const std::string text :
       {"", "+", "a b", "3a", "(a", "a//2", "a +", "'a", "99999999999999999999", "a-", deep.c_str()}) {
    EXPECT_FALSE(Dim::parse(text)) << text;
  }
}

TEST(Dim, OverflowBecomesUnknown) {
  const Dim big = INT64_MAX;
  EXPECT_FALSE((big + Dim(1)).known());
  EXPECT_FALSE((big * Dim(2)).known());
  EXPECT_FALSE((Dim(INT64_MIN) * Dim(-1)).known());
  EXPECT_FALSE(exact_quotient(Dim(INT64_MIN), Dim(-1)).known());
  EXPECT_EQ(Dim::unknown() * Dim(0), Dim(0));
}

TEST(Dim, GrowsOnlyToALimit) {
  Dim sum = 0, product = 1;
  for (int i = 0; i < 100; ++i) sum = sum + Dim::symbol("s" + std::to_string(i));
  for (int i = 0; i < 100; ++i) product = product * Dim::symbol("x");
  EXPECT_FALSE(sum.known());
  EXPECT_FALSE(product.known());
}

TEST(Dim, OnlyDifferentConstantsContradict) {
  EXPECT_TRUE(contradict(Dim(3), 4));
  EXPECT_FALSE(contradict(Dim(3), 3));
  EXPECT_FALSE(contradict(Dim::symbol("a"), 4));
  EXPECT_FALSE(contradict(Dim::unknown(), 4));
  EXPECT_FALSE(same(Dim::unknown(), Dim::unknown()));
}

RC_GTEST_PROP(Dim, ParseInvertsText, ()) {
  const Dim dim = *any_dim();
  const auto parsed = Dim::parse(dim.text());
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == dim);
}

RC_GTEST_PROP(Dim, ArithmeticAgreesWithNumbers, ()) {
  const Dim a = *any_dim(), b = *any_dim();
  const auto point = any_point();
  const int64_t x = *at(a, point), y = *at(b, point);
  RC_ASSERT(at(a + b, point) == x + y);
  RC_ASSERT(at(a - b, point) == x - y);
  RC_ASSERT(at(a * b, point) == x * y);
}

RC_GTEST_PROP(Dim, QuotientUndoesProduct, ()) {
  const Dim a = *any_dim(), b = *any_dim();
  RC_PRE(!(b == Dim(0)));
  RC_ASSERT(exact_quotient(a * b, b) == a);
  RC_ASSERT(!exact_quotient(a * b * Dim(2) + Dim(1), b * Dim(2)).known());
}

RC_GTEST_PROP(Dim, SubstitutingNumbersEvaluates, ()) {
  const Dim a = *any_dim();
  const auto point = any_point();
  const Dim replaced = a.substitute([&](const std::string& name) { return std::optional<Dim>(point.at(name)); });
  RC_ASSERT(replaced.constant() == at(a, point));
}

}  // namespace
}  // namespace nxrt
