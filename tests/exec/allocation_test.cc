// A run whose shapes were seen before allocates nothing. This file replaces the program's operator new to count calls.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "exec/session.h"
#include "graph/text.h"
#include "support/random_graph.h"
#include "support/random_inputs.h"

namespace {
std::atomic<int64_t> g_allocations{0};
}

[[gnu::noinline]] void* operator new(size_t bytes) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(bytes ? bytes : 1)) return p;
  throw std::bad_alloc();
}
// The library's temporary buffers ask without exceptions; both kinds must come from one allocator.
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes ? bytes : 1);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace nxrt::exec {
namespace {

// Tensors come from aligned_alloc: those show in the heap's own count.
struct Count {
  int64_t news = g_allocations.load();
  size_t heap = mallinfo2().uordblks;
};

void bind_all(Session& session, Binding& binding, const std::map<std::string, Tensor>& inputs) {
  for (const auto& [name, tensor] : inputs) binding.input(session.input_port(name), tensor);
}

TEST(Allocation, TheCounterCounts) {
  const Count before;
  ::operator delete(::operator new(16));  // called by name: the compiler may not leave it out
  EXPECT_GT(g_allocations.load(), before.news);
}

class AllocationOfAGraph : public testing::TestWithParam<uint32_t> {};

TEST_P(AllocationOfAGraph, ASecondRunAllocatesNothing) {
  Workers workers(2);
  const std::string text = test::random_graph(GetParam(), 30);
  auto session = Session::prepare(parse_graph(text, "random"), "random", workers);
  const auto large = test::random_inputs(session->graph(), 1, {{"B", 2}, {"S", 9}});
  const auto small = test::random_inputs(session->graph(), 1, {{"B", 1}, {"S", 4}});
  Binding first, second;
  bind_all(*session, first, large);
  bind_all(*session, second, small);
  session->run(first);
  session->run(second);
  const Count before;
  session->run(second);
  EXPECT_EQ(g_allocations.load(), before.news) << "with the same shapes\n" << text;
  EXPECT_EQ(mallinfo2().uordblks, before.heap);
}

INSTANTIATE_TEST_SUITE_P(Random, AllocationOfAGraph, testing::Values(1u, 2u, 3u, 4u, 5u));

}  // namespace
}  // namespace nxrt::exec
