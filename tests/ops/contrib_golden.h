// Replays the cases of tests/golden/ops/<Op>.json (made by make_contrib_golden.py) on one instruction set.
#pragma once

#include <string>

#include "support/op_runner.h"

namespace nxrt::test {

// Runs every case with one and with three workers; a NaN in an expected output means "unspecified". Fails when the
// file is missing or has fewer than `at_least` cases.
void replay_golden(const std::string& file, const Kernels& cpu, size_t at_least);

}  // namespace nxrt::test
