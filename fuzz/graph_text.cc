// The graph text form: what parses prints, and what it prints parses to the same.
#include "graph/text.h"

#include "support/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nxrt;
  const PrintOptions options{.types = true, .max_elements = 1 << 20};
  fuzz::expect_result_or_error([&] {
    const std::string once = print_graph(*parse_graph(fuzz::text_of(data, size), "fuzz"), options);
    if (print_graph(*parse_graph(once, "again"), options) != once) __builtin_trap();
  });
  return 0;
}
