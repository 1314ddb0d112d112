// The parts of avx512::install, one per file of this folder.
#pragma once

#include "kernels/kernels.h"

namespace nxrt::avx512 {

void install_elementwise(Kernels& k);
void install_rows(Kernels& k);
void install_attention(Kernels& k);
void install_gemm(Kernels& k);

}  // namespace nxrt::avx512
