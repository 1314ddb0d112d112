#include "kernels/portable/gemm_nbits.h"
#include "kernels/vnni/dot.h"

namespace nxrt::vnni {

void install(Kernels& k) { k.gemm_nbits_q8 = portable::gemm_nbits_q8<avx512::Columns, Dot>; }

}  // namespace nxrt::vnni
