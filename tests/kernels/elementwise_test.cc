// Elementwise kernels against the same functions in double.
#include <functional>

#include "kernels/buffers.h"

namespace nxrt {
namespace {

using Exact = double (*)(double);

struct UnaryCase {
  Unary f;
  Exact exact;
  double ulps;      // allowed error in units of 2^-24 of the result
  double absolute;  // and in absolute terms, where cancellation is part of the formula
};

double gelu_tanh(double x) { return 0.5 * x * (1.0 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))); }

constexpr double kSubnormalStep = 1.5e-45;

// The bounds that portable/math.h promises, and sums of their roundings for the functions built on them.
const UnaryCase kUnary[] = {
    {Unary::abs, [](double x) { return std::fabs(x); }, 0, 0},
    {Unary::neg, [](double x) { return -x; }, 0, 0},
    {Unary::exp, [](double x) { return std::exp(x); }, 2, kSubnormalStep},
    {Unary::log, [](double x) { return std::log(x); }, 3, 0},
    {Unary::sqrt, [](double x) { return std::sqrt(x); }, 1, 0},
    {Unary::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 3, 0},
    {Unary::reciprocal, [](double x) { return 1 / x; }, 1, kSubnormalStep},
    {Unary::tanh, [](double x) { return std::tanh(x); }, 5, kSubnormalStep},
    {Unary::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 6, 1.2e-38},  // e^-x overflows first
    {Unary::silu, [](double x) { return x / (1 + std::exp(-x)); }, 6, 1.1e-36},
    {Unary::relu, [](double x) { return x < 0 ? 0.0 : x; }, 0, 0},
    {Unary::erf, [](double x) { return std::erf(x); }, 6, kSubnormalStep},
    {Unary::gelu_erf, [](double x) { return 0.5 * x * (1 + std::erf(x * 0.70710678118654752440)); }, 10, 1e-6},
    {Unary::gelu_tanh, gelu_tanh, 10, 1e-6},
    {Unary::sin, [](double x) { return std::sin(x); }, 2, kSubnormalStep},
    {Unary::cos, [](double x) { return std::cos(x); }, 2, 0},
    {Unary::floor, [](double x) { return std::floor(x); }, 0, 0},
    {Unary::ceil, [](double x) { return std::ceil(x); }, 0, 0},
    {Unary::round, [](double x) { return std::nearbyint(x); }, 0, 0},
};

std::vector<float> all_magnitudes() {
  std::vector<float> x = random_floats(6000, -12, 12, 1);
  std::mt19937 engine(2);
  for (int i = 0; i < 20000; ++i) x.push_back(float_from(engine()));  // every exponent, every kind of NaN
  for (const float v :
       {0.0f,           -0.0f,     0.5f,   1.5f,        2.5f,       -0.5f,   -2.5f,         1e-45f,
        1.1754944e-38f, 88.72283f, 88.73f, -87.3f,      -103.9f,    -104.1f, 3.4028235e38f, -3.4028235e38f,
        0.625f,         1.0f,      4.0f,   0.70710677f, 1.4142135f, kInf,    -kInf,         kNan}) {
    x.push_back(v);
  }
  return x;
}

// x·(something that is 0 at −∞) is NaN in the formula each of these is defined by.
bool formula_is_nan(Unary f, float x) {
  return x == -kInf && (f == Unary::silu || f == Unary::gelu_erf || f == Unary::gelu_tanh);
}

// A result past the largest float rounds to infinity, one of half a step above it may round either way.
double as_float_range(double y) { return std::fabs(y) > 3.4028235677973366e38 ? std::copysign(kInf, y) : y; }

class UnaryKernels : public test::EveryIsa {};

TEST_P(UnaryKernels, KeepTheirErrorBounds) {
  const std::vector<float> x = all_magnitudes();
  for (const UnaryCase& c : kUnary) {
    SCOPED_TRACE(static_cast<int>(c.f));
    const Buffer<float> in(x);
    Buffer<float> out(static_cast<int64_t>(x.size()));
    cpu().unary[static_cast<int>(c.f)](in.data(), out.data(), static_cast<int64_t>(x.size()));
    const std::vector<float> y = out.values();
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = formula_is_nan(c.f, x[i]) ? kNan : as_float_range(c.exact(x[i]));
      ASSERT_TRUE(near(y[i], exact, c.ulps * std::ldexp(1.0, -24), c.absolute)) << "at x = " << x[i];
    }
  }
}

TEST_P(UnaryKernels, TreatEachElementAloneAtEveryLength) {
  const std::vector<float> x = random_floats(1100, -4, 4, 3);
  for (const UnaryCase& c : kUnary) {
    const auto kernel = cpu().unary[static_cast<int>(c.f)];
    std::vector<float> alone(x.size());
    for (size_t i = 0; i < x.size(); ++i) kernel(&x[i], &alone[i], 1);
    for (const int64_t n : kLengths) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(c.f) << ", length " << n);
      const Buffer<float> in(std::vector<float>(x.begin(), x.begin() + n));
      Buffer<float> out(n), in_place(in.values());
      kernel(in.data(), out.data(), n);
      kernel(in_place.data(), in_place.data(), n);
      const std::vector<float> expected(alone.begin(), alone.begin() + n);
      ASSERT_TRUE(same_bits(out.values(), expected));
      ASSERT_TRUE(same_bits(in_place.values(), expected));
      ASSERT_TRUE(out.guards_hold() && in_place.guards_hold());
    }
  }
}

INSTANTIATE_EVERY_ISA(UnaryKernels);

class BinaryKernels : public test::EveryIsa {};

double binary(Binary op, double a, double b) {
  switch (op) {
    case Binary::add: return a + b;
    case Binary::sub: return a - b;
    case Binary::mul: return a * b;
    case Binary::div: return a / b;
    case Binary::min: return std::isnan(a) || std::isnan(b) ? kNan : std::fmin(a, b);
    case Binary::max: return std::isnan(a) || std::isnan(b) ? kNan : std::fmax(a, b);
    case Binary::pow: return std::pow(a, b);
  }
  return kNan;
}

TEST_P(BinaryKernels, MatchTheOperationForEveryStepAndLength) {
  std::vector<float> a = random_floats(1028, -3, 3, 4), b = random_floats(1028, -3, 3, 5);
  a[3] = kNan, b[6] = kNan, a[10] = kInf, b[10] = -kInf, b[12] = 0.0f, a[13] = -kInf, b[14] = 2.0f;
  for (int op = 0; op < kBinaryCount; ++op) {
    for (const int64_t n : kLengths) {
      for (const auto& [a_step, b_step] : {std::pair{1, 1}, {1, 0}, {0, 1}, {0, 0}}) {
        SCOPED_TRACE(testing::Message() << "op " << op << ", length " << n << ", steps " << a_step << b_step);
        const Buffer<float> left(a), right(b);
        Buffer<float> y(n);
        cpu().binary[op](left.data() + 1, a_step, right.data() + 1, b_step, y.data(), n);
        std::vector<double> expected;
        for (int64_t i = 0; i < n; ++i)
          expected.push_back(binary(static_cast<Binary>(op), a[1 + i * a_step], b[1 + i * b_step]));
        ASSERT_TRUE(all_near(y.values(), expected, 1.3e-7, 1e-45));
        ASSERT_TRUE(y.guards_hold());
      }
    }
  }
}

TEST_P(BinaryKernels, SiluMulMatchesTheFormula) {
  for (const int64_t n : kLengths) {
    const Buffer<float> gate(random_floats(n, -9, 9, 6)), up(random_floats(n, -2, 2, 7));
    Buffer<float> y(n), in_place(gate.values());
    cpu().silu_mul(gate.data(), up.data(), y.data(), n);
    cpu().silu_mul(in_place.data(), up.data(), in_place.data(), n);
    std::vector<double> expected;
    for (int64_t i = 0; i < n; ++i)
      expected.push_back(gate.data()[i] / (1 + std::exp(-static_cast<double>(gate.data()[i]))) * up.data()[i]);
    ASSERT_TRUE(all_near(y.values(), expected, 5e-7, 1e-12)) << n;
    ASSERT_TRUE(same_bits(in_place.values(), y.values()));
    ASSERT_TRUE(y.guards_hold());
  }
}

INSTANTIATE_EVERY_ISA(BinaryKernels);

class Conversions : public test::EveryIsa {};

template <class T>
std::vector<uint16_t> bits_of(const std::vector<T>& values) {
  std::vector<uint16_t> bits;
  for (const T v : values) bits.push_back(v.bits);
  return bits;
}

TEST_P(Conversions, WidenEveryHalfAndBFloat16) {
  std::vector<Half> halves(65536 + 5);
  std::vector<BFloat16> bfloats(65536 + 5);
  for (size_t i = 0; i < halves.size(); ++i) halves[i].bits = bfloats[i].bits = static_cast<uint16_t>(i);
  std::vector<float> from_half, from_bfloat;
  for (const Half h : halves) from_half.push_back(to_float(h));
  for (const BFloat16 b : bfloats) from_bfloat.push_back(to_float(b));
  const Buffer<Half> h(halves);
  const Buffer<BFloat16> b(bfloats);
  Buffer<float> y(65536 + 5);
  cpu().half_to_float(h.data(), y.data(), 65536 + 5);
  EXPECT_TRUE(same_bits(y.values(), from_half));
  cpu().bfloat16_to_float(b.data(), y.data(), 65536 + 5);
  EXPECT_TRUE(same_bits(y.values(), from_bfloat));
  EXPECT_TRUE(y.guards_hold());
}

TEST_P(Conversions, NarrowToTheNearestEven) {
  std::vector<float> x = all_magnitudes();
  for (int i = 0; i < 2048; ++i) x.push_back(1.0f + static_cast<float>(i) * 0x1p-12f);  // ties of both formats
  for (float& v : x) v = std::isnan(v) ? kNan : v;  // payloads of NaN are not specified
  const int64_t n = static_cast<int64_t>(x.size());
  const Buffer<float> in(x);
  Buffer<Half> half(n), half_expected(n);
  Buffer<BFloat16> bfloat(n), bfloat_expected(n);
  cpu().float_to_half(in.data(), half.data(), n);
  cpu().float_to_bfloat16(in.data(), bfloat.data(), n);
  definition().float_to_half(in.data(), half_expected.data(), n);
  definition().float_to_bfloat16(in.data(), bfloat_expected.data(), n);
  EXPECT_EQ(bits_of(half.values()), bits_of(half_expected.values()));
  EXPECT_EQ(bits_of(bfloat.values()), bits_of(bfloat_expected.values()));
}

TEST_P(Conversions, KeepWithinEveryLength) {
  for (const int64_t n : kLengths) {
    const std::vector<float> x = random_floats(n, -3, 3, 8);
    Buffer<Half> half(n);
    Buffer<BFloat16> bfloat(n);
    Buffer<float> back(n);
    cpu().float_to_half(x.data(), half.data(), n);
    cpu().float_to_bfloat16(x.data(), bfloat.data(), n);
    ASSERT_TRUE(half.guards_hold() && bfloat.guards_hold()) << n;
    cpu().half_to_float(half.data(), back.data(), n);
    ASSERT_TRUE(all_near(back.values(), {x.begin(), x.end()}, 0x1p-11, 0x1p-25)) << n;
    cpu().bfloat16_to_float(bfloat.data(), back.data(), n);
    ASSERT_TRUE(all_near(back.values(), {x.begin(), x.end()}, 0x1p-8, 0)) << n;
    ASSERT_TRUE(back.guards_hold()) << n;
  }
}

INSTANTIATE_EVERY_ISA(Conversions);

}  // namespace
}  // namespace nxrt
