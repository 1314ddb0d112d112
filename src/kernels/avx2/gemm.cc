#include "kernels/avx2/columns.h"
#include "kernels/avx2/dot.h"
#include "kernels/avx2/parts.h"
#include "kernels/portable/gemm_f32.h"
#include "kernels/portable/gemm_nbits.h"

namespace nxrt::avx2 {

void install_gemm(Kernels& k) {
  portable::install_gemm_f32<Columns>(k);
  k.gemm_nbits_q8 = portable::gemm_nbits_q8<Columns, Dot>;
  k.gemm_nbits_f32 = portable::gemm_nbits_f32<Columns>;
}

}  // namespace nxrt::avx2
