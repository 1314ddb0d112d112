#include "kernels/portable/attention.h"

#include "kernels/avx512/f32.h"
#include "kernels/avx512/parts.h"

namespace nxrt::avx512 {

void install_attention(Kernels& k) { portable::install_attention<F32>(k); }

}  // namespace nxrt::avx512
