#include "kernels/portable/elementwise.h"

#include "kernels/avx2/f32.h"
#include "kernels/avx2/parts.h"

namespace nxrt::avx2 {

void install_elementwise(Kernels& k) { portable::install_elementwise<F32>(k); }

}  // namespace nxrt::avx2
