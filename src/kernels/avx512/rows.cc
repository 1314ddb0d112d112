#include "kernels/portable/rows.h"

#include "kernels/avx512/f32.h"
#include "kernels/avx512/parts.h"

namespace nxrt::avx512 {

void install_rows(Kernels& k) { portable::install_rows<F32>(k); }

}  // namespace nxrt::avx512
