#include "kernels/buffers.h"

namespace nxrt {

testing::AssertionResult near(float got, double expected, double relative, double absolute) {
  const bool ok = std::isnan(expected)   ? std::isnan(got)
                  : std::isinf(expected) ? static_cast<double>(got) == expected
                                         : std::fabs(got - expected) <= absolute + relative * std::fabs(expected);
  if (ok) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "got " << got << ", expected " << expected << ", off by "
                                     << std::fabs(got - expected);
}

testing::AssertionResult all_near(const std::vector<float>& got, const std::vector<double>& expected, double relative,
                                  double absolute) {
  if (got.size() != expected.size()) return testing::AssertionFailure() << got.size() << " elements";
  for (size_t i = 0; i < got.size(); ++i) {
    if (auto result = near(got[i], expected[i], relative, absolute); !result) return result << " at " << i;
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult same_bits(const std::vector<float>& got, const std::vector<float>& expected) {
  if (got.size() != expected.size()) return testing::AssertionFailure() << got.size() << " elements";
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i]) && std::isnan(expected[i])) continue;
    if (float_bits(got[i]) != float_bits(expected[i])) {
      return testing::AssertionFailure() << "element " << i << " is " << got[i] << ", expected exactly " << expected[i];
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace nxrt
