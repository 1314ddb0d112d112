// A pre-tokenizer pattern, matched as Oniguruma (the engine of Hugging Face `tokenizers`) matches it: Ruby syntax,
// Unicode 16 character classes.
//
//   for (Matches m(regex, text); m.next();) use(text.substr(m.begin(), m.end() - m.begin()));
//
// Threads: a Regex is immutable; Matches belongs to one thread. Errors: compile throws Error{invalid_argument |
//          unsupported}; next() throws Error{out_of_capacity} when the pattern backtracks without end.
// Memory:  Matches borrows regex and text, which is valid UTF-8.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace genai {

class Regex {
 public:
  static Regex compile(std::string_view pattern, const std::string& where);

 private:
  friend class Matches;
  struct Program;
  std::shared_ptr<const Program> plain_;  // for texts whose characters PCRE2's own tables know
  std::shared_ptr<const Program> newer_;  // its classes are extended by newer characters: exact, slower
};

class Matches {
 public:
  Matches(const Regex& regex, std::string_view text);
  ~Matches();
  Matches(const Matches&) = delete;
  Matches& operator=(const Matches&) = delete;

  bool next();  // the next match that does not overlap; no empty match right behind another match
  size_t begin() const { return begin_; }
  size_t end() const { return end_; }

 private:
  struct State;
  bool search(size_t from);
  const Regex::Program& program_;
  std::string_view text_;
  std::unique_ptr<State> state_;
  size_t from_ = 0, begin_ = 0, end_ = 0;
  size_t last_end_ = std::string_view::npos;
};

// Pattern text for PCRE2. `extended`: character classes include what is newer than PCRE2's Unicode version.
// Throws Error{unsupported} for class intersections and nested classes, which PCRE2 would read differently.
std::string translate_pattern(std::string_view pattern, bool extended, const std::string& where);

}  // namespace genai
