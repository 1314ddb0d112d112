#include "graph/dim.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace nxrt {
namespace {

// Larger polynomials help nobody and would let a hostile file grow them without end.
constexpr size_t kMaxTerms = 64;
constexpr size_t kMaxDegree = 16;

using Monomial = std::vector<std::string>;
using Terms = Dim::Terms;

bool add_term(Terms& terms, const Monomial& monomial, int64_t coefficient) {
  if (coefficient == 0) return true;
  const auto it = terms.try_emplace(monomial, 0).first;
  if (__builtin_add_overflow(it->second, coefficient, &it->second)) return false;
  if (it->second == 0) terms.erase(it);
  return terms.size() <= kMaxTerms;
}

Monomial product(const Monomial& a, const Monomial& b) {
  Monomial all;
  all.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

// Adds factor · monomial · terms to `sum`.
bool add_multiple(Terms& sum, const Terms& terms, const Monomial& monomial, int64_t factor) {
  for (const auto& [own, coefficient] : terms) {
    int64_t scaled = 0;
    if (__builtin_mul_overflow(coefficient, factor, &scaled)) return false;
    if (own.size() + monomial.size() > kMaxDegree) return false;
    if (!add_term(sum, product(own, monomial), scaled)) return false;
  }
  return true;
}

// Graded lexicographic order, a monomial order: division by the leading term terminates.
Terms::const_iterator leading(const Terms& terms) {
  return std::max_element(terms.begin(), terms.end(), [](const auto& a, const auto& b) {
    return a.first.size() != b.first.size() ? a.first.size() < b.first.size() : a.first > b.first;
  });
}

std::optional<Monomial> quotient(const Monomial& a, const Monomial& b) {
  if (!std::includes(a.begin(), a.end(), b.begin(), b.end())) return {};
  Monomial rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return rest;
}

}  // namespace

Dim::Dim(int64_t constant) : known_(true) {
  if (constant != 0) terms_.emplace(Monomial{}, constant);
}

Dim Dim::symbol(const std::string& name) {
  Dim dim;
  dim.known_ = true;
  dim.terms_.emplace(Monomial{name}, 1);
  return dim;
}

Dim Dim::of_terms(Terms terms) {
  Dim dim;
  dim.known_ = true;
  dim.terms_ = std::move(terms);
  return dim;
}

bool Dim::is_constant() const { return constant().has_value(); }

std::optional<int64_t> Dim::constant() const {
  if (!known_) return {};
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
  return {};
}

std::optional<std::string> Dim::as_symbol() const {
  if (terms_.size() != 1) return {};
  const auto& [monomial, coefficient] = *terms_.begin();
  if (monomial.size() != 1 || coefficient != 1) return {};
  return monomial.front();
}

std::vector<std::string> Dim::symbols() const {
  std::vector<std::string> names;
  for (const auto& [monomial, coefficient] : terms_) names.insert(names.end(), monomial.begin(), monomial.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (!a.known_ || !b.known_) return {};
  Terms sum = a.terms_;
  if (!add_multiple(sum, b.terms_, {}, 1)) return {};
  return Dim::of_terms(std::move(sum));
}

Dim operator-(const Dim& a, const Dim& b) {
  if (!a.known_ || !b.known_) return {};
  Terms sum = a.terms_;
  if (!add_multiple(sum, b.terms_, {}, -1)) return {};
  return Dim::of_terms(std::move(sum));
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.constant() == 0 || b.constant() == 0) return 0;  // whatever the other one is
  if (!a.known_ || !b.known_) return {};
  Terms sum;
  for (const auto& [monomial, coefficient] : b.terms_) {
    if (!add_multiple(sum, a.terms_, monomial, coefficient)) return {};
  }
  return Dim::of_terms(std::move(sum));
}

Dim exact_quotient(const Dim& a, const Dim& b) {
  if (!a.known_ || !b.known_ || b.terms_.empty()) return {};
  const auto divisor = leading(b.terms_);
  Terms rest = a.terms_, result;
  for (size_t step = 0; !rest.empty(); ++step) {
    const auto top = leading(rest);
    const auto monomial = quotient(top->first, divisor->first);
    const bool overflows = top->second == INT64_MIN && divisor->second == -1;
    if (step > kMaxTerms || !monomial || overflows || top->second % divisor->second != 0) return {};
    const int64_t factor = top->second / divisor->second;
    if (!add_term(result, *monomial, factor)) return {};
    if (factor == INT64_MIN || !add_multiple(rest, b.terms_, *monomial, -factor)) return {};
  }
  return Dim::of_terms(std::move(result));
}

bool same(const Dim& a, const Dim& b) { return a.known_ && b.known_ && a.terms_ == b.terms_; }

bool contradict(const Dim& a, const Dim& b) {
  const auto x = a.constant(), y = b.constant();
  return x && y && *x != *y;
}

Dim Dim::substitute(const std::function<std::optional<Dim>(const std::string&)>& value) const {
  if (!known_) return {};
  Dim sum = 0;
  for (const auto& [monomial, coefficient] : terms_) {
    Dim term = coefficient;
    for (const std::string& name : monomial) term = term * value(name).value_or(Dim::symbol(name));
    sum = sum + term;
  }
  return sum;
}

std::optional<int64_t> Dim::evaluate(const std::function<std::optional<int64_t>(const std::string&)>& value) const {
  if (!known_) return {};
  int64_t sum = 0;
  for (const auto& [monomial, coefficient] : terms_) {
    int64_t term = coefficient;
    for (const std::string& name : monomial) {
      const auto factor = value(name);
      if (!factor || __builtin_mul_overflow(term, *factor, &term)) return {};
    }
    if (__builtin_add_overflow(sum, term, &sum)) return {};
  }
  return sum;
}

}  // namespace nxrt
