#include "base/error.h"

#include <gtest/gtest.h>

namespace nxrt {
namespace {

TEST(Error, TextLeavesOutEmptyParts) {
  EXPECT_EQ(Error(Code::io, "disk full").text(), "error: disk full");
  EXPECT_EQ(Error(Code::io, "a", "b", "c").text(), "error: a\n  at   b\n  fix  c");
}

TEST(Error, PlacesJoinFromTheOutsideIn) {
  EXPECT_EQ(place("model.onnx", "node 'x'"), "model.onnx > node 'x'");
  EXPECT_EQ(place("", "node 'x'"), "node 'x'");
  EXPECT_EQ(place("model.onnx", ""), "model.onnx");
}

}  // namespace
}  // namespace nxrt
