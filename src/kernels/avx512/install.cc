#include "kernels/avx512/parts.h"

namespace nxrt::avx512 {

void install(Kernels& k) {
  install_elementwise(k);
  install_rows(k);
  install_attention(k);
  install_gemm(k);
}

}  // namespace nxrt::avx512
