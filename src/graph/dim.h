// A dimension: a constant, an integer polynomial over named symbols, or unknown.
//
//   Dim t = Dim::symbol("T");   (t * Dim(64) + Dim(1)).text() == "64*T + 1"
//
// Threads: a value. Errors: overflow of a coefficient makes the result unknown; nothing throws.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nxrt {

class Dim {
 public:
  Dim() = default;        // unknown
  Dim(int64_t constant);  // NOLINT: shapes read better when integers convert
  static Dim symbol(const std::string& name);
  static Dim unknown() { return {}; }

  bool known() const { return known_; }
  bool is_constant() const;
  std::optional<int64_t> constant() const;
  // The symbol's name when this is exactly one symbol with coefficient 1.
  std::optional<std::string> as_symbol() const;
  std::vector<std::string> symbols() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  // a / b when b divides a exactly as polynomials, else unknown.
  friend Dim exact_quotient(const Dim& a, const Dim& b);
  // Structural equality; two unknowns are *not* equal.
  friend bool same(const Dim& a, const Dim& b);
  // True when the two can't be equal whatever the symbols are (both constant and different).
  friend bool contradict(const Dim& a, const Dim& b);
  bool operator==(const Dim& other) const { return same(*this, other); }

  // Replaces symbols; those `value` does not know stay.
  Dim substitute(const std::function<std::optional<Dim>(const std::string&)>& value) const;
  std::optional<int64_t> evaluate(const std::function<std::optional<int64_t>(const std::string&)>& value) const;

  // Terms in canonical order: sorted symbol names (with repetition for powers) → coefficient (never 0).
  using Terms = std::map<std::vector<std::string>, int64_t>;
  const Terms& terms() const { return terms_; }
  std::string text() const;  // "?" when unknown; a symbol that is no identifier is written in single quotes
  // Inverse of text(); also takes parentheses. Empty when the text is no polynomial.
  static std::optional<Dim> parse(const std::string& text);

 private:
  static Dim of_terms(Terms terms);
  bool known_ = false;
  Terms terms_;
};

}  // namespace nxrt
