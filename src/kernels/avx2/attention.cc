#include "kernels/portable/attention.h"

#include "kernels/avx2/f32.h"
#include "kernels/avx2/parts.h"

namespace nxrt::avx2 {

void install_attention(Kernels& k) { portable::install_attention<F32>(k); }

}  // namespace nxrt::avx2
