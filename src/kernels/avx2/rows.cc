#include "kernels/portable/rows.h"

#include "kernels/avx2/f32.h"
#include "kernels/avx2/parts.h"

namespace nxrt::avx2 {

void install_rows(Kernels& k) { portable::install_rows<F32>(k); }

}  // namespace nxrt::avx2
