#include "gen/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace genai {
namespace {
bool more_likely(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}
}  // namespace

void Candidates::assign(std::span<const float> logits, float temperature, int top_k) {
  items_.clear();
  sorted_ = 0;
  const float top = *std::max_element(logits.begin(), logits.end());
  // The quotient of a tiny temperature is −∞, whose exponential is 0: never listed.
  const auto weight = [&](float logit) { return std::exp((logit - top) / temperature); };
  if (top_k > 0 && static_cast<size_t>(top_k) < logits.size()) {
    collect_top(logits, static_cast<size_t>(top_k));
    for (Candidate& c : items_) c.p = weight(c.logit);
    std::erase_if(items_, [](const Candidate& c) { return c.p == 0; });
  } else {
    for (size_t i = 0; i < logits.size(); ++i) {
      if (const float p = weight(logits[i]); p > 0) items_.push_back({static_cast<int32_t>(i), logits[i], p});
    }
  }
  normalize();
}

// A heap of the best so far, the least of them in front: most of the vocabulary costs one comparison.
void Candidates::collect_top(std::span<const float> logits, size_t count) {
  for (size_t i = 0; i < logits.size(); ++i) {
    const bool fills = items_.size() < count;
    if (!fills && logits[i] <= items_.front().logit) continue;
    if (!fills) {
      std::pop_heap(items_.begin(), items_.end(), more_likely);
      items_.pop_back();
    }
    items_.push_back({static_cast<int32_t>(i), logits[i], 0});
    std::push_heap(items_.begin(), items_.end(), more_likely);
  }
}

void Candidates::normalize() {
  double sum = 0;
  for (const Candidate& c : items_) sum += c.p;
  const double scale = 1 / sum;
  for (Candidate& c : items_) c.p *= scale;
}

double Candidates::largest() const {
  return std::max_element(items_.begin(), items_.end(),
                          [](const Candidate& a, const Candidate& b) { return a.p < b.p; })
      ->p;
}

template <class Keep>
void Candidates::keep_if(Keep keep) {
  std::erase_if(items_, [&](const Candidate& c) { return !keep(c); });
  sorted_ = std::min(sorted_, items_.size());
  normalize();
}

void Candidates::sort_front(size_t count) {
  count = std::min(count, items_.size());
  if (count <= sorted_) return;
  std::partial_sort(items_.begin() + static_cast<ptrdiff_t>(sorted_), items_.begin() + static_cast<ptrdiff_t>(count),
                    items_.end(), more_likely);
  sorted_ = count;
}

void Candidates::keep_first(size_t count) {
  count = std::clamp<size_t>(count, 1, items_.size());
  sort_front(count);
  items_.resize(count);
  normalize();
}

void Candidates::keep_top_p(float top_p) {
  if (top_p >= 1) return;
  // All tokens below this together hold less than half of 1 − top_p: the nucleus is full before the first of them.
  const double never = 0.5 * (1.0 - top_p) / static_cast<double>(items_.size());
  std::erase_if(items_, [never](const Candidate& c) { return c.p < never; });
  sorted_ = std::min(sorted_, items_.size());
  double reached = 0;
  size_t count = 0;
  while (count < items_.size()) {
    if (count == sorted_) sort_front(std::max<size_t>(64, 4 * sorted_));  // most of the vocabulary is never sorted
    reached += items_[count++].p;
    if (reached >= top_p) break;
  }
  keep_first(count);
}

void Candidates::keep_min_p(float min_p) {
  if (min_p <= 0) return;
  const double least = min_p * largest();
  keep_if([least](const Candidate& c) { return c.p >= least; });
}

void Candidates::keep_top_a(float top_a) {
  if (top_a <= 0) return;
  const double most = largest(), least = top_a * most * most;
  keep_if([least](const Candidate& c) { return c.p >= least; });
}

void Candidates::keep_typical(float mass) {
  if (mass >= 1) return;
  double entropy = 0;
  for (const Candidate& c : items_) entropy -= c.p > 0 ? c.p * std::log(c.p) : 0;
  const auto distance = [entropy](const Candidate& c) {
    return c.p > 0 ? std::abs(-std::log(c.p) - entropy) : std::numeric_limits<double>::infinity();
  };
  std::vector<std::pair<double, Candidate>> order;
  for (const Candidate& c : items_) order.emplace_back(distance(c), c);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : more_likely(a.second, b.second);
  });
  items_.clear();
  double reached = 0;
  for (const auto& [_, candidate] : order) {
    items_.push_back(candidate);
    reached += candidate.p;
    if (reached >= mass) break;
  }
  sorted_ = 0;
  normalize();
}

void Candidates::drop_above(double threshold) {
  const auto above = [threshold](const Candidate& c) { return c.p >= threshold; };
  const Candidate* least = nullptr;
  for (const Candidate& c : items_) {
    if (above(c) && (least == nullptr || more_likely(*least, c))) least = &c;
  }
  if (least == nullptr) return;
  const int32_t stays = least->token;
  keep_if([&](const Candidate& c) { return !above(c) || c.token == stays; });
  sorted_ = 0;
}

const Candidate& Candidates::draw(double u) const {
  double reached = 0;
  for (const Candidate& c : items_) {
    reached += c.p;
    if (u < reached) return c;
  }
  // Rounding left the sum just below 1: the last one that is possible at all.
  return *std::find_if(items_.rbegin(), items_.rend(), [](const Candidate& c) { return c.p > 0; });
}

}  // namespace genai
