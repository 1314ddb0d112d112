#include "gen/mirostat.h"

#include <algorithm>
#include <cmath>

namespace genai {
namespace {
constexpr size_t kZipfTokens = 100;
}  // namespace

size_t MirostatState::zipf_count(const std::vector<Candidate>& sorted, size_t vocabulary) const {
  double tb = 0, tt = 0;
  for (size_t i = 0; i + 1 < std::min(kZipfTokens, sorted.size()) && sorted[i + 1].p > 0; ++i) {
    const double t = std::log((static_cast<double>(i) + 2) / (static_cast<double>(i) + 1));
    tb += t * std::log(sorted[i].p / sorted[i + 1].p);
    tt += t * t;
  }
  const double exponent = tt > 0 ? tb / tt : 0, epsilon = exponent - 1;
  const double k =
      std::pow(epsilon * std::pow(2, mu_) / (1 - std::pow(static_cast<double>(vocabulary), -epsilon)), 1 / exponent);
  // A flat or a perfect Zipf distribution has no estimate: nothing is cut.
  return std::isfinite(k) ? static_cast<size_t>(std::clamp(k, 1.0, 1e9)) : vocabulary;
}

void MirostatState::cut(Candidates& candidates) const {
  const size_t all = candidates.items().size();
  if (options_.version == 1) {
    candidates.sort_front(kZipfTokens);
    candidates.keep_first(std::min(all, zipf_count(candidates.items(), all)));
  } else if (options_.version == 2) {
    candidates.sort_front(1);
    const double top = candidates.items().front().p;
    candidates.keep_min_p(static_cast<float>(std::min(1.0, std::exp2(-mu_) / top)));
  }
}

void MirostatState::observe(double p) {
  if (options_.version != 0) mu_ -= options_.eta * (-std::log2(p) - options_.tau);
}

}  // namespace genai
