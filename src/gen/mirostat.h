// Mirostat (Basu et al., 2020): steers the surprise of the text towards tau bits by cutting the unlikely tail.
//
//   MirostatState state(options);  state.cut(candidates);  …draw…  state.observe(p_of_the_drawn);
//
// Version 1 estimates the Zipf exponent of the 100 most likely tokens and keeps the k that give the wanted surprise;
// version 2 keeps the tokens whose own surprise is at most mu. mu starts at 2 tau and moves by eta · (surprise − tau).
#pragma once

#include "gen/candidates.h"
#include "gen/sampling_options.h"

namespace genai {

class MirostatState {
 public:
  explicit MirostatState(const MirostatOptions& options) : options_(options), mu_(2.0 * options.tau) {}
  void cut(Candidates& candidates) const;
  void observe(double p);
  double mu() const { return mu_; }

 private:
  size_t zipf_count(const std::vector<Candidate>& sorted, size_t vocabulary) const;
  MirostatOptions options_;
  double mu_;
};

}  // namespace genai
