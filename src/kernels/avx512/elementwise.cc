#include "kernels/portable/elementwise.h"

#include "kernels/avx512/f32.h"
#include "kernels/avx512/parts.h"

namespace nxrt::avx512 {

void install_elementwise(Kernels& k) { portable::install_elementwise<F32>(k); }

}  // namespace nxrt::avx512
