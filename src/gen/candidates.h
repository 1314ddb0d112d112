// The tokens that may still be chosen, with probabilities, and the filters that shorten the list. Each filter leaves at
// least one token and probabilities that add up to 1.
//
//   Candidates c;  c.assign(logits, temperature, top_k);  c.keep_top_p(0.9f);  TokenId t = c.draw(u);
//
// Threads: one. Errors: none; logits are finite or −∞, at least one finite.
// Memory:  the list is reused from call to call.
#pragma once

#include <span>
#include <vector>

#include "gen/ids.h"

namespace genai {

struct Candidate {
  int32_t token = 0;
  float logit = 0;
  double p = 0;
};

class Candidates {
 public:
  // softmax(logits / temperature) over all tokens, or the top_k > 0 most likely (ties: lowest id). A token whose
  // probability is 0 in float isn't listed.
  void assign(std::span<const float> logits, float temperature, int top_k);

  void keep_top_p(float top_p);       // the fewest most likely ones that reach top_p together
  void keep_min_p(float min_p);       // p >= min_p · the largest p
  void keep_top_a(float top_a);       // p >= top_a · (the largest p)²
  void keep_typical(float mass);      // those whose surprise is nearest the entropy, until they reach `mass`
  void keep_first(size_t count);      // the `count` most likely
  void drop_above(double threshold);  // of all with p >= threshold only the least likely stays

  // Most likely first (ties: lowest id), as far as `count`; p is final for them.
  void sort_front(size_t count);
  const std::vector<Candidate>& items() const { return items_; }

  // The token where the running sum of probabilities passes u, 0 <= u < 1.
  const Candidate& draw(double u) const;

 private:
  void collect_top(std::span<const float> logits, size_t count);
  template <class Keep>
  void keep_if(Keep keep);
  void normalize();
  double largest() const;

  std::vector<Candidate> items_;
  size_t sorted_ = 0;  // so many at the front are in order, and all others come after them
};

}  // namespace genai
