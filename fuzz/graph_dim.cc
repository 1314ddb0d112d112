// A dim's text: what parses prints, and reads back as itself.
#include "graph/dim.h"

#include "support/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nxrt;
  const auto dim = Dim::parse(std::string(fuzz::text_of(data, size)));
  if (!dim || !dim->known()) return 0;
  const auto again = Dim::parse(dim->text());
  if (!again || !same(*again, *dim)) __builtin_trap();
  const Dim square = *dim * *dim;
  if (square.known() && !dim->terms().empty() && !same(exact_quotient(square, *dim), *dim)) __builtin_trap();
  return 0;
}
