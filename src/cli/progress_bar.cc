#include "cli/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/size_text.h"

namespace genai::cli {
namespace {
constexpr int kWidth = 32;
}

void ProgressBar::show(const std::string& stage, int64_t done, int64_t total) {
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const double share = total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 1.0;
  const int tick = static_cast<int>(share * (terminal ? 1000 : 10));
  if (tick == last_ && stage == stage_) return;
  last_ = tick;
  stage_ = stage;
  const std::string full(static_cast<size_t>(share * kWidth), '#');
  std::fprintf(stderr, terminal ? "\r%-10s [%-*s] %3d%% of %s" : "%-10s [%-*s] %3d%% of %s\n", stage.c_str(), kWidth,
               full.c_str(), static_cast<int>(share * 100), size_text(total).c_str());
  std::fflush(stderr);
}

ProgressBar::~ProgressBar() {
  if (last_ >= 0 && ::isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "\n");
}

}  // namespace genai::cli
