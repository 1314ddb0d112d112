#include "base/error.h"

#include <utility>

namespace nxrt {

const char* name_of(Code code) {
  switch (code) {
    case Code::invalid_argument: return "invalid_argument";
    case Code::not_found: return "not_found";
    case Code::unsupported: return "unsupported";
    case Code::corrupt: return "corrupt";
    case Code::out_of_capacity: return "out_of_capacity";
    case Code::io: return "io";
    case Code::cancelled: return "cancelled";
    case Code::internal: return "internal";
  }
  return "unknown";
}

Error::Error(Code code, std::string what, std::string at, std::string fix)
    : code_(code), what_(std::move(what)), at_(std::move(at)), fix_(std::move(fix)) {}

std::string Error::text() const {
  std::string all = "error: " + what_;
  if (!at_.empty()) all += "\n  at   " + at_;
  if (!fix_.empty()) all += "\n  fix  " + fix_;
  return all;
}

std::string place(const std::string& outer, const std::string& inner) {
  if (outer.empty()) return inner;
  if (inner.empty()) return outer;
  return outer + " > " + inner;
}

}  // namespace nxrt
