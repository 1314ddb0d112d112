// How often guesses are right, by how much speaks for them: the share of hits among recent tries of each grade.
//
//   HitRates rates(first);  rates.record(grade, right, 0.95f);  float p = rates.share(grade);
//
// Threads: one. Errors: none.
#pragma once

#include <array>

namespace genai {

class HitRates {
 public:
  static constexpr int kGrades = 5;
  using Shares = std::array<float, kGrades>;

  HitRates() = default;
  // Starts as if `tries` tries of each grade had been right by these shares.
  HitRates(const Shares& shares, float tries) {
    for (int g = 0; g < kGrades; ++g) counts_[g] = {shares[g] * tries, tries};
  }

  // Older tries lose weight by `keep` with each new one of their grade.
  void record(int grade, bool right, float keep) {
    Count& count = counts_[grade];
    count.hits = count.hits * keep + (right ? 1.0f : 0.0f);
    count.tries = count.tries * keep + 1.0f;
  }
  // With `weight` tries right by `prior` beside its own.
  float share(int grade, float prior = 0, float weight = 0) const {
    const Count& count = counts_[grade];
    const float tries = count.tries + weight;
    return tries > 0 ? (count.hits + prior * weight) / tries : 0;
  }

 private:
  struct Count {
    float hits = 0, tries = 0;
  };
  std::array<Count, kGrades> counts_{};
};

}  // namespace genai
