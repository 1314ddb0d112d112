// Oniguruma's Ruby syntax → PCRE2's, where the two read the same text differently.
#include <fmt/core.h>

#include "base/error.h"
#include "text/regex.h"
#include "text/unicode_additions.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;

namespace {
// White_Space; PCRE2's own \s has U+180E too.
constexpr std::string_view kSpace =
    "\\t-\\r\\x20\\x85\\xA0\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}";
// Alphabetic, marks, decimal numbers, connectors, and Latin-1's superscripts and fractions; PCRE2's \w has other ones.
constexpr std::string_view kWord =
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\xB2\\xB3\\xB9\\xBC-\\xBE\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}"
    "\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}";

class Translator {
 public:
  Translator(std::string_view in, bool extended, const std::string& where)
      : in_(in), extended_(extended), where_(where) {}

  std::string run() {
    while (at_ < in_.size()) {
      if (in_[at_] == '\\') {
        escape();
      } else if (class_) {
        inside_class();
      } else {
        if (in_[at_] == '[') open_class();
        copy(1);
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const char* what) const {
    throw Error(Code::unsupported,
                fmt::format("pattern '{}' uses {}, which is not supported", in_.substr(0, 200), what), where_,
                "write the character class without it");
  }

  void copy(size_t n) {
    n = std::min(n, in_.size() - at_);
    out_.append(in_, at_, n);
    at_ += n;
  }

  void open_class() {
    class_ = true;
    if (at_ + 1 < in_.size() && in_[at_ + 1] == '^') copy(1);  // the caller copies the last of "[" and "[^"
    if (at_ + 1 < in_.size() && in_[at_ + 1] == ']') copy(1);  // a "]" in first place is a member
  }

  void inside_class() {
    const std::string_view rest = in_.substr(at_);
    if (rest.starts_with("[:")) {
      const size_t close = rest.find(":]");
      return copy(close == std::string_view::npos ? 2 : close + 2);
    }
    if (rest[0] == '[') refuse("a class inside a class");
    if (rest.starts_with("&&")) refuse("a class intersection");
    if (rest[0] == ']') class_ = false;
    copy(1);
  }

  // A set of members, by itself or inside the class that is open.
  void members(std::string_view set, const std::string& more, bool negated, size_t consumed) {
    if (class_ && negated) return copy(consumed);  // a complement can't be spelled inside a class; PCRE2's is close
    at_ += consumed;
    if (class_) {
      out_.append(set).append(more);
    } else {
      out_.append(negated ? "[^" : "[").append(set).append(more).append("]");
    }
  }

  std::string newer(std::string_view category) const { return extended_ ? newer_members(category) : std::string(); }

  void escape() {
    if (at_ + 1 >= in_.size()) return copy(1);
    const char kind = in_[at_ + 1];
    switch (kind) {
      case 's':
      case 'S': return members(kSpace, "", kind == 'S', 2);
      case 'w':
      case 'W':
        return members(kWord, newer("L") + newer("M") + newer("Nd") + newer("Nl") + newer("Pc"), kind == 'W', 2);
      case 'd':
      case 'D': return members("\\p{Nd}", newer("Nd"), kind == 'D', 2);
      case 'h':
      case 'H': return members("0-9A-Fa-f", "", kind == 'H', 2);
      case 'p':
      case 'P': return property(kind == 'P');
      default: return copy(2);
    }
  }

  void property(bool negated) {
    const size_t close = in_.find('}', at_);
    if (at_ + 2 >= in_.size() || in_[at_ + 2] != '{' || close == std::string_view::npos) return copy(3);
    std::string_view name = in_.substr(at_ + 3, close - at_ - 3);
    if (name.starts_with('^')) {
      name.remove_prefix(1);
      negated = !negated;
    }
    const bool category = name.size() <= 2;
    members(fmt::format("\\p{{{}}}", name), category ? newer(name) : "", negated, close + 1 - at_);
  }

  std::string_view in_;
  bool extended_;
  const std::string& where_;
  size_t at_ = 0;
  bool class_ = false;
  std::string out_;
};
}  // namespace

std::string translate_pattern(std::string_view pattern, bool extended, const std::string& where) {
  return Translator(pattern, extended, where).run();
}

}  // namespace genai
