#include "text/regex.h"

#include <fmt/core.h>

#include "base/error.h"
#include "text/unicode.h"
#include "text/unicode_additions.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace genai {

using nxrt::Code;
using nxrt::Error;

namespace {
constexpr size_t kMaxPatternBytes = 1 << 16;
constexpr uint32_t kMatchLimit = 10'000'000;  // backtracks per search, besides what a long text needs

struct Freed {
  void operator()(pcre2_code* p) const { pcre2_code_free(p); }
  void operator()(pcre2_compile_context* p) const { pcre2_compile_context_free(p); }
  void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
  void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
};
}  // namespace

struct Regex::Program {
  std::unique_ptr<pcre2_code, Freed> code;
  bool jit = false;
};

struct Matches::State {
  std::unique_ptr<pcre2_match_data, Freed> data;
  std::unique_ptr<pcre2_match_context, Freed> context;
};

Regex Regex::compile(std::string_view pattern, const std::string& where) {
  if (pattern.size() > kMaxPatternBytes) {
    throw Error(Code::out_of_capacity,
                fmt::format("pattern has {} bytes, expected at most {}", pattern.size(), kMaxPatternBytes), where);
  }
  const std::unique_ptr<pcre2_compile_context, Freed> context(pcre2_compile_context_create(nullptr));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  const auto build = [&](bool extended) {
    const std::string text = translate_pattern(pattern, extended, where);
    int code = 0;
    PCRE2_SIZE offset = 0;
    auto program = std::make_shared<Program>();
    // Ruby's ^ and $ match at every line.
    program->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &code, &offset,
                                      context.get()));
    if (!program->code) {
      char message[256] = "";
      pcre2_get_error_message(code, reinterpret_cast<PCRE2_UCHAR*>(message), sizeof message);
      throw Error(Code::invalid_argument, fmt::format("pattern '{}' is not valid: {}", pattern.substr(0, 200), message),
                  where, "correct the regular expression");
    }
    program->jit = pcre2_jit_compile(program->code.get(), PCRE2_JIT_COMPLETE) == 0;
    return program;
  };
  Regex regex;
  regex.plain_ = build(false);
  regex.newer_ = build(true);
  return regex;
}

Matches::Matches(const Regex& regex, std::string_view text)
    : program_(has_newer_characters(text) ? *regex.newer_ : *regex.plain_),
      text_(text),
      state_(std::make_unique<State>()) {
  state_->data.reset(pcre2_match_data_create_from_pattern(program_.code.get(), nullptr));
  state_->context.reset(pcre2_match_context_create(nullptr));
  const size_t limit = kMatchLimit + std::min<size_t>(text.size(), 1 << 24) * 16;
  pcre2_set_match_limit(state_->context.get(), static_cast<uint32_t>(limit));
}

Matches::~Matches() = default;

bool Matches::search(size_t from) {
  const auto subject = reinterpret_cast<PCRE2_SPTR>(text_.data());
  int found = PCRE2_ERROR_JIT_STACKLIMIT;
  if (program_.jit) {
    found =
        pcre2_jit_match(program_.code.get(), subject, text_.size(), from, 0, state_->data.get(), state_->context.get());
  }
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
    found = pcre2_match(program_.code.get(), subject, text_.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                        state_->data.get(), state_->context.get());
  }
  if (found == PCRE2_ERROR_NOMATCH) return false;
  if (found < 0) {
    throw Error(Code::out_of_capacity,
                fmt::format("the tokenizer's pattern gave up at byte {} (PCRE2 error {})", from, found), {},
                "the pattern backtracks too much on this text; use a simpler pattern");
  }
  const PCRE2_SIZE* span = pcre2_get_ovector_pointer(state_->data.get());
  begin_ = span[0];
  end_ = std::max(span[0], span[1]);  // \K inside a look-ahead may put the start behind the end
  return true;
}

bool Matches::next() {
  while (from_ <= text_.size() && search(from_)) {
    if (begin_ != end_ || end_ != last_end_) {
      from_ = last_end_ = end_;
      return true;
    }
    if (from_ == text_.size()) break;
    from_ += utf8_length(static_cast<unsigned char>(text_[from_]));
  }
  from_ = text_.size() + 1;
  return false;
}

}  // namespace genai
