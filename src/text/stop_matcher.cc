#include "text/stop_matcher.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace genai {

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {
  for (const std::string& stop : stops_) {
    if (stop.empty())
      throw nxrt::Error(nxrt::Code::invalid_argument, "a stop string is empty, expected text", "stop", "leave it out");
    failure_.push_back(failure_function(stop));
  }
  progress_.resize(stops_.size(), 0);
}

// failure[n]: the longest proper prefix of stop[0, n) that is also its suffix (Knuth, Morris, Pratt).
std::vector<size_t> StopMatcher::failure_function(const std::string& stop) {
  std::vector<size_t> failure(stop.size() + 1, 0);
  for (size_t n = 1, k = 0; n < stop.size(); ++n) {
    while (k > 0 && stop[n] != stop[k]) k = failure[k];
    if (stop[n] == stop[k]) ++k;
    failure[n + 1] = k;
  }
  return failure;
}

void StopMatcher::advance(size_t stop, char byte) {
  size_t& n = progress_[stop];
  while (n > 0 && stops_[stop][n] != byte) n = failure_[stop][n];
  if (stops_[stop][n] == byte) ++n;
}

std::string StopMatcher::push(std::string_view text) {
  for (const char byte : text) {
    if (stopped()) break;
    held_.push_back(byte);
    for (size_t s = 0; s < stops_.size(); ++s) {
      advance(s, byte);
      const bool longer = !stopped() || stops_[s].size() > stops_[matched_].size();
      if (progress_[s] == stops_[s].size() && longer) matched_ = static_cast<int>(s);
    }
  }
  // A match ends held_; without one, the longest prefix of a stop does.
  size_t keep = 0;
  for (const size_t n : progress_) keep = std::max(keep, n);
  std::string out = held_.substr(0, held_.size() - (stopped() ? stops_[matched_].size() : keep));
  held_.erase(0, stopped() ? held_.size() : out.size());
  return out;
}

std::string StopMatcher::finish() { return std::exchange(held_, {}); }

}  // namespace genai
