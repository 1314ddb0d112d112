#include "cli/size_text.h"

#include <gtest/gtest.h>

namespace genai::cli {
namespace {

TEST(SizeText, ReadsUnitsAndFractions) {
  EXPECT_EQ(parse_size("512MiB", 0), int64_t{512} << 20);
  EXPECT_EQ(parse_size("1.5GiB", 0), int64_t{1536} << 20);
  EXPECT_EQ(parse_size("2GB", 0), 2'000'000'000);
  EXPECT_EQ(parse_size("800000", 0), 800'000);
  EXPECT_EQ(parse_size("0.25", 1000), 250);
  for (const char* bad : {"", "x", "-1", "1.5", "3Gi", "1e400", "nan", "MiB"})
    EXPECT_EQ(parse_size(bad, 1000), std::nullopt) << bad;
}

TEST(SizeText, WritesTheLargestUnit) {
  EXPECT_EQ(size_text(1536), "1.50 KiB");
  EXPECT_EQ(size_text(12), "12 B");
}

}  // namespace
}  // namespace genai::cli
