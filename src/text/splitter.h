// Cuts a text at matches and joins the parts again as a Behavior says.
//
//   Splitter s(text, Behavior::isolated, next, at_start);  s.match(2, 3);  s.match(7, 9);  s.finish();
//
// Threads: one. Errors: none. Empty parts are left out.
#pragma once

#include <string_view>

#include "text/pre_tokenizer.h"

namespace genai {

class Splitter {
 public:
  Splitter(std::string_view text, Behavior behavior, bool invert, bool at_start, const PreTokenizer::Next& next)
      : text_(text), behavior_(behavior), invert_(invert), at_start_(at_start), next_(next) {}

  void match(size_t begin, size_t end) {
    if (done_ != begin) part(done_, begin, invert_);
    part(begin, end, !invert_);
    done_ = end;
  }

  void finish() {
    if (done_ != text_.size()) part(done_, text_.size(), invert_);
    flush();
  }

 private:
  void part(size_t begin, size_t end, bool separator) {
    if (joins(separator) && has_held_) {
      held_end_ = end;
    } else {
      flush();
      has_held_ = true;
      held_begin_ = begin;
      held_end_ = end;
    }
    held_is_removed_ = behavior_ == Behavior::removed && separator;
    last_was_separator_ = separator;
  }

  // Whether a part continues the one before it.
  bool joins(bool separator) const {
    switch (behavior_) {
      case Behavior::merged_with_previous: return separator && !last_was_separator_;
      case Behavior::merged_with_next: return !separator && last_was_separator_;
      case Behavior::contiguous: return separator == last_was_separator_;
      default: return false;
    }
  }

  void flush() {
    if (has_held_ && !held_is_removed_ && held_begin_ != held_end_) {
      next_(text_.substr(held_begin_, held_end_ - held_begin_), at_start_ && held_begin_ == 0);
    }
    has_held_ = false;
  }

  std::string_view text_;
  Behavior behavior_;
  bool invert_, at_start_;
  const PreTokenizer::Next& next_;
  size_t done_ = 0, held_begin_ = 0, held_end_ = 0;
  bool has_held_ = false, held_is_removed_ = false, last_was_separator_ = false;
};

}  // namespace genai
