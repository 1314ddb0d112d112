#include "text/merges.h"

#include <algorithm>
#include <array>
#include <bit>
#include <queue>

namespace genai {

namespace {
constexpr size_t kShort = 48;  // up to here a scan beats a heap

uint64_t pair_of(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

struct Candidate {
  uint32_t rank;
  uint32_t at;  // the left symbol
  int32_t id;
  bool operator>(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
};

// Symbols in a chain; a merged one keeps the left one's place.
struct Chain {
  static constexpr uint32_t kEnd = std::numeric_limits<uint32_t>::max();
  struct Link {
    uint32_t before, after;
  };
  std::vector<Link> links;

  explicit Chain(size_t n) : links(n) {
    for (uint32_t i = 0; i < n; ++i) links[i] = {i == 0 ? kEnd : i - 1, i + 1 == n ? kEnd : i + 1};
  }
  uint32_t before(uint32_t i) const { return links[i].before; }
  uint32_t after(uint32_t i) const { return links[i].after; }
  void remove(uint32_t i) {
    links[before(i)].after = after(i);
    if (after(i) != kEnd) links[after(i)].before = before(i);
  }
};
}  // namespace

size_t Merges::slot_of(uint64_t pair) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = (pair * 0x9E3779B97F4A7C15u >> 20) & mask;
  while (slots_[slot].rule.id >= 0 && slots_[slot].pair != pair) slot = (slot + 1) & mask;
  return slot;
}

void Merges::reserve(size_t rules) {
  std::vector<Slot> old(std::bit_ceil(std::max<size_t>(16, rules * 2)));
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.rule.id >= 0) slots_[slot_of(slot.pair)] = slot;
  }
}

void Merges::add(int32_t left, int32_t right, Rule rule) {
  if (slots_.size() < (used_ + 1) * 2) reserve(std::max<size_t>(16, slots_.size()));
  Slot& slot = slots_[slot_of(pair_of(left, right))];
  used_ += slot.rule.id < 0;
  slot = {pair_of(left, right), rule};
}

Merges::Rule Merges::find(int32_t left, int32_t right) const {
  return slots_.empty() ? Rule{} : slots_[slot_of(pair_of(left, right))].rule;
}

void Merges::apply(std::vector<int32_t>& symbols) const {
  if (symbols.size() < 2) return;
  symbols.size() <= kShort ? apply_short(symbols) : apply_long(symbols);
}

void Merges::apply_short(std::vector<int32_t>& symbols) const {
  std::array<Rule, kShort> rules;  // of symbol i with i + 1
  size_t pairs = symbols.size() - 1;
  for (size_t i = 0; i < pairs; ++i) rules[i] = find(symbols[i], symbols[i + 1]);
  while (pairs > 0) {
    const auto best = std::min_element(rules.begin(), rules.begin() + pairs,
                                       [](const Rule& a, const Rule& b) { return a.rank < b.rank; });
    if (best->rank == kNone) break;
    const size_t at = best - rules.begin();
    symbols[at] = best->id;
    symbols.erase(symbols.begin() + at + 1);
    std::copy(rules.begin() + at + 1, rules.begin() + pairs, rules.begin() + at);
    --pairs;
    if (at < pairs) rules[at] = find(symbols[at], symbols[at + 1]);
    if (at > 0) rules[at - 1] = find(symbols[at - 1], symbols[at]);
  }
}

void Merges::apply_long(std::vector<int32_t>& symbols) const {
  constexpr int32_t kGone = -1;
  Chain chain(symbols.size());
  std::vector<Candidate> start;
  const auto candidate = [&](uint32_t at, auto&& put) {
    const Rule rule = find(symbols[at], symbols[chain.after(at)]);
    if (rule.rank != kNone) put(Candidate{rule.rank, at, rule.id});
  };
  for (uint32_t i = 0; i + 1 < symbols.size(); ++i) candidate(i, [&](const Candidate& c) { start.push_back(c); });
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue(std::greater<>(), std::move(start));
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    if (symbols[best.at] == kGone || chain.after(best.at) == Chain::kEnd) continue;
    // A candidate outlives its pair; it still counts when the pair now there becomes the same token.
    if (find(symbols[best.at], symbols[chain.after(best.at)]).id != best.id) continue;
    const uint32_t right = chain.after(best.at);
    symbols[best.at] = best.id;
    symbols[right] = kGone;
    chain.remove(right);
    const auto push = [&](const Candidate& c) { queue.push(c); };
    if (chain.before(best.at) != Chain::kEnd) candidate(chain.before(best.at), push);
    if (chain.after(best.at) != Chain::kEnd) candidate(best.at, push);
  }
  std::erase(symbols, kGone);
}

}  // namespace genai
