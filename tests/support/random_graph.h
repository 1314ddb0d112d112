// Random well-formed graphs over elementwise operators, products, reshapes, transposes, concats and reductions, for
// properties that must hold of any graph.
#pragma once

#include <cstdint>
#include <string>

namespace nxrt::test {

// In the text form, over symbols B and S and the constant dims 4 and 8; `nodes` operators, some of which nobody reads.
// Equal arguments give equal graphs.
std::string random_graph(uint32_t seed, int nodes);

}  // namespace nxrt::test
