#include "gen/prompt_lookup.h"

#include <algorithm>
#include <bit>

namespace genai {
namespace {

constexpr int64_t kLeast = RunIndex::kLeast;
constexpr size_t kFirstSlots = 256;

// Until something was seen: a little less than answers of small chat models show.
constexpr HitRates::Shares kFirstShares = {0.4f, 0.55f, 0.7f, 0.85f, 0.92f};
constexpr float kFirstTries = 12;
constexpr float kKeepAll = 0.99f, kKeepOwn = 0.95f;  // about the last 100 and 20 tries
constexpr float kWeightOfAll = 4;

// 3 | 4, 5 | 6 … 9 | 10 … 17 | 18 and more
int grade_of(int64_t length) {
  const int width = std::bit_width(static_cast<uint32_t>(length - kLeast + 1));
  return std::min(width, HitRates::kGrades) - 1;
}

int64_t common_ending(std::span<const TokenId> tokens, int64_t a, int64_t b) {
  int64_t length = 0;
  while (length < RunIndex::kLongest && length <= a && tokens[a - length] == tokens[b - length]) ++length;
  return length;
}

}  // namespace

uint32_t RunIndex::hash(std::span<const TokenId> tokens, int64_t last) {
  uint64_t h = 0;
  for (int64_t i = last - kLeast + 1; i <= last; ++i) {
    h = (h ^ static_cast<uint32_t>(tokens[i].value)) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return static_cast<uint32_t>(h >> 16);
}

void RunIndex::insert(std::span<const TokenId> tokens, int64_t last) {
  if (last + 1 < kLeast) return;
  int32_t& slot = latest_[hash(tokens, last) & (latest_.size() - 1)];
  earlier_[last] = slot;
  slot = static_cast<int32_t>(last);
}

void RunIndex::grow(std::span<const TokenId> tokens) {
  const auto read = static_cast<int64_t>(earlier_.size());
  latest_.assign(std::max(kFirstSlots, std::bit_ceil(2 * tokens.size())), -1);
  for (int64_t last = 0; last < read; ++last) insert(tokens, last);
}

void RunIndex::follow(std::span<const TokenId> tokens) {
  if (tokens.size() > latest_.size()) grow(tokens);
  for (auto last = static_cast<int64_t>(earlier_.size()); last < static_cast<int64_t>(tokens.size()); ++last) {
    earlier_.push_back(-1);
    insert(tokens, last);
  }
}

RunIndex::Match RunIndex::longest(std::span<const TokenId> tokens) const {
  Match best;
  const int64_t end = static_cast<int64_t>(tokens.size()) - 1;
  if (end + 1 < kLeast || latest_.empty()) return best;
  int32_t at = latest_[hash(tokens, end) & (latest_.size() - 1)];
  for (int i = 0; i < kCandidates && at >= 0; ++i, at = earlier_[at]) {
    const int64_t length = common_ending(tokens, at, end);
    if (length >= kLeast && length > best.length) best = {.next = at + 1, .length = length};
    if (best.length == kLongest) break;
  }
  return best;
}

PromptLookup::PromptLookup() : all_(kFirstShares, kFirstTries) {}

float PromptLookup::chance(const History& history, int64_t length) const {
  const int grade = grade_of(length);
  return history.rates.share(grade, all_.share(grade), kWeightOfAll);
}

void PromptLookup::propose(std::span<Ask> asks) {
  for (Ask& ask : asks) {
    History& history = histories_[ask.sequence->id];
    const std::span<const TokenId> tokens = ask.sequence->tokens;
    history.index.follow(tokens.first(tokens.size() - 1));
    const RunIndex::Match match = history.index.longest(tokens);
    history.matched = match.length;
    ask.proposal = {};
    if (match.length == 0) continue;
    for (int i = 0; i < ask.most; ++i) {
      // A repetition whose period is shorter than the proposal goes on in the proposal itself.
      const auto from = static_cast<size_t>(match.next + i);
      ask.proposal.tokens.push_back(from < tokens.size() ? tokens[from] : ask.proposal.tokens[from - tokens.size()]);
      ask.proposal.chance.push_back(chance(history, match.length + i));
    }
  }
}

void PromptLookup::learn(const Ask& ask, size_t index, TokenId said) {
  const auto known = histories_.find(ask.sequence->id);
  if (known == histories_.end() || index >= ask.proposal.tokens.size()) return;
  const int grade = grade_of(known->second.matched + static_cast<int64_t>(index));
  const bool right = ask.proposal.tokens[index] == said;
  known->second.rates.record(grade, right, kKeepOwn);
  all_.record(grade, right, kKeepAll);
}

}  // namespace genai
