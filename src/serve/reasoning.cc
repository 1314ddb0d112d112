#include "serve/reasoning.h"

#include <algorithm>

namespace genai::serve {
namespace {
constexpr std::string_view kSpaces = " \n\r\t";

// The longest suffix of `text` that is a beginning of `marker`.
size_t beginning_at_the_end(std::string_view text, std::string_view marker) {
  for (size_t length = std::min(text.size(), marker.size() - 1); length > 0; --length) {
    if (text.substr(text.size() - length) == marker.substr(0, length)) return length;
  }
  return 0;
}
}  // namespace

ReasoningSplitter::ReasoningSplitter(std::string open, std::string close, bool begins_inside)
    : open_(std::move(open)), close_(std::move(close)) {
  part_ = open_.empty() ? Part::content : begins_inside ? Part::reasoning : Part::before;
  trim_ = part_ == Part::reasoning;
}

SplitText ReasoningSplitter::push(std::string_view text) {
  SplitText out;
  held_ += text;
  while (take_marker(out)) {
  }
  return out;
}

// One marker out of the held text; false when there is no whole one.
bool ReasoningSplitter::take_marker(SplitText& out) {
  if (part_ == Part::before) {  // reasoning stands first or nowhere
    const size_t begin = std::min(held_.find_first_not_of(kSpaces), held_.size());
    const std::string_view rest = std::string_view(held_).substr(begin);
    if (rest.starts_with(open_)) {
      held_.erase(0, begin + open_.size());
      part_ = Part::reasoning;
      trim_ = true;
      return true;
    }
    if (open_.starts_with(rest)) return false;
    part_ = Part::content;
  }
  if (part_ == Part::content) {
    give(held_, out);
    held_.clear();
    return false;
  }
  const size_t at = held_.find(close_);
  const size_t certain = at != std::string::npos ? at : held_.size() - beginning_at_the_end(held_, close_);
  give(std::string_view(held_).substr(0, certain), out);
  held_.erase(0, certain);
  if (at == std::string::npos) return false;
  held_.erase(0, close_.size());
  spaces_.clear();
  part_ = Part::content;
  trim_ = true;
  return true;
}

void ReasoningSplitter::give(std::string_view text, SplitText& out) {
  if (trim_) {
    text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
    if (text.empty()) return;
    trim_ = false;
  }
  if (part_ == Part::content) {
    out.content += text;
    return;
  }
  const size_t end = text.find_last_not_of(kSpaces);
  if (end == std::string_view::npos) {
    spaces_ += text;
    return;
  }
  out.reasoning += spaces_;
  out.reasoning += text.substr(0, end + 1);
  spaces_ = text.substr(end + 1);
}

SplitText ReasoningSplitter::finish() {
  SplitText out;
  if (part_ == Part::before) part_ = Part::content;
  give(held_, out);
  held_.clear();
  out.reasoning += spaces_;
  spaces_.clear();
  return out;
}

}  // namespace genai::serve
