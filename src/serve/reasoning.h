// Splits an answer's text into what the model thought and what it says, piece by piece.
//
//   ReasoningSplitter split("<think>", "</think>", false);
//   SplitText now = split.push(piece);  …  SplitText rest = split.finish();
//
// Holds back exactly the longest suffix that could still become the next marker. The joined parts don't depend on how
// the text was cut. Without markers everything is content. White space around the markers belongs to neither part.
// Stop strings work on the text in front of the splitter, so they hold in both parts.
// Threads: one. Errors: none.
#pragma once

#include <string>
#include <string_view>

namespace genai::serve {

struct SplitText {
  std::string reasoning, content;
};

class ReasoningSplitter {
 public:
  ReasoningSplitter(std::string open, std::string close, bool begins_inside);
  SplitText push(std::string_view text);
  SplitText finish();

 private:
  enum class Part { before, reasoning, content };
  bool take_marker(SplitText& out);
  void give(std::string_view text, SplitText& out);

  std::string open_, close_, held_;
  Part part_;
  bool trim_ = false;   // white space right after a marker is skipped
  std::string spaces_;  // at the end of the reasoning so far: dropped when the marker follows
};

}  // namespace genai::serve
