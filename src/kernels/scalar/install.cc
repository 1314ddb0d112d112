#include "kernels/scalar/parts.h"

namespace nxrt::scalar {

void install(Kernels& k) {
  install_elementwise(k);
  install_rows(k);
  install_gemm(k);
  install_attention(k);
}

}  // namespace nxrt::scalar
