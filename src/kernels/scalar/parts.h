// The parts of scalar::install, one per file of this folder.
#pragma once

#include "kernels/kernels.h"

namespace nxrt::scalar {

void install_elementwise(Kernels& k);
void install_rows(Kernels& k);
void install_gemm(Kernels& k);
void install_attention(Kernels& k);

}  // namespace nxrt::scalar
