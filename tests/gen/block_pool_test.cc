#include "gen/block_pool.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "gen/prefix_tree.h"

namespace genai {
namespace {

KvLayout layout_of(int head_dim) {
  const std::vector<KvHeads> layers = {{.kv_heads = 1, .head_dim = head_dim}};
  return make_kv_layout(layers, nxrt::DType::f32);
}

TEST(KvLayout, PutsEveryTensorOnACacheLine) {
  const std::vector<KvHeads> layers = {{.kv_heads = 3, .head_dim = 5}, {.kv_heads = 1, .head_dim = 64}};
  const KvLayout f16 = make_kv_layout(layers, nxrt::DType::f16);
  EXPECT_EQ(f16.layers[0].k_offset, 0);
  EXPECT_EQ(f16.layers[0].v_offset, 512);  // 3 · 5 · 16 · 2 = 480 bytes, rounded up to 64
  EXPECT_EQ(f16.layers[1].k_offset, 1024);
  EXPECT_EQ(f16.layers[1].v_offset, 1024 + 2048);
  EXPECT_EQ(f16.block_bytes, 1024 + 4096);
  EXPECT_THROW(make_kv_layout(layers, nxrt::DType::i8), Error);
  const std::vector<KvHeads> wrong = {{.kv_heads = 0, .head_dim = 5}};
  EXPECT_THROW(make_kv_layout(wrong, nxrt::DType::f32), Error);
}

TEST(BlockPool, RefusesABudgetBelowOneBlockWithNumbers) {
  try {
    BlockPool pool(layout_of(64), 100);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::out_of_capacity);
    EXPECT_NE(e.message().find("100 bytes"), std::string::npos);
    EXPECT_NE(e.message().find("8192"), std::string::npos);
  }
}

TEST(BlockPool, GivesTheLowestFreeBlock) {
  BlockPool pool(layout_of(4), 4 * layout_of(4).block_bytes + 100);
  EXPECT_EQ(pool.total(), 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(pool.allocate(), BlockId(i));
  EXPECT_FALSE(pool.allocate().valid());
  pool.release(BlockId(3));
  pool.release(BlockId(1));
  EXPECT_EQ(pool.allocate(), BlockId(1));
  EXPECT_EQ(pool.allocate(), BlockId(3));
}

TEST(BlockPool, ReservesALargeBudgetWithoutTouchingIt) {
  BlockPool pool(layout_of(64), int64_t{1} << 38);
  EXPECT_EQ(pool.resident_bytes(), 0);
  std::memset(pool.data(pool.allocate()), 1, 8192);
  EXPECT_EQ(pool.resident_bytes(), 8192);
}

TEST(BlockPool, TrimGivesFreePagesBack) {
  BlockPool pool(layout_of(64), 100 * 8192);
  std::vector<BlockId> blocks;
  for (int i = 0; i < 50; ++i) {
    blocks.push_back(pool.allocate());
    std::memset(pool.data(blocks.back()), 7, 8192);
  }
  for (int i = 0; i < 50; ++i) {
    if (i != 20) pool.release(blocks[i]);
  }
  pool.trim();
  unsigned char resident[100] = {};
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto is_resident = [&](BlockId block) {
    mincore(pool.data(block), page, resident);
    return (resident[0] & 1) != 0;
  };
  EXPECT_TRUE(is_resident(BlockId(20)));
  EXPECT_EQ(*reinterpret_cast<unsigned char*>(pool.data(BlockId(20))), 7);
  EXPECT_FALSE(is_resident(BlockId(5)));
  EXPECT_FALSE(is_resident(BlockId(40)));
  EXPECT_EQ(pool.resident_bytes(), 21 * 8192);
  EXPECT_EQ(pool.allocate(), BlockId(0));
}

TEST(BlockPool, CountsReferencesAsAModelDoes) {
  EXPECT_TRUE(rc::check([] {
    BlockPool pool(layout_of(4), 8 * layout_of(4).block_bytes);
    std::map<int, int> model;
    for (const int action : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40))) {
      const int block = action / 4 % 8;
      if (action % 4 == 0) {
        const BlockId got = pool.allocate();
        RC_ASSERT(got.valid() == (model.size() < 8));
        if (got.valid()) RC_ASSERT(model.emplace(got.value, 1).second);
      } else if (model.count(block) != 0 && action % 4 == 1) {
        pool.retain(BlockId(block));
        ++model[block];
      } else if (model.count(block) != 0 && action % 4 == 2) {
        pool.release(BlockId(block));
        if (--model[block] == 0) model.erase(block);
      } else if (action % 4 == 3) {
        pool.trim();
      }
      RC_ASSERT(pool.stats().used == static_cast<int64_t>(model.size()));
      for (const auto& [id, count] : model) RC_ASSERT(pool.references(BlockId(id)) == count);
    }
  }));
}

std::vector<TokenId> tokens_from(int first) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < kBlockTokens; ++i) tokens.emplace_back(first + i);
  return tokens;
}

PrefixTree::Key key(const std::vector<TokenId>& tokens) { return PrefixTree::Key(tokens.data(), kBlockTokens); }

TEST(PrefixTree, FindsByTokensBelowTheParentOnly) {
  BlockPool pool(layout_of(4), 8 * layout_of(4).block_bytes);
  PrefixTree tree(pool);
  const auto a = tokens_from(0), b = tokens_from(100);
  const BlockId block = pool.allocate();
  const int node = tree.insert(PrefixTree::kRoot, key(a), block);
  EXPECT_EQ(tree.find(PrefixTree::kRoot, key(a)), node);
  EXPECT_EQ(tree.find(node, key(a)), -1);
  EXPECT_EQ(tree.find(PrefixTree::kRoot, key(b)), -1);
  EXPECT_EQ(pool.references(block), 2);
  EXPECT_EQ(pool.stats().cached, 0);
  pool.release(block);
  EXPECT_EQ(pool.stats().cached, 1);
  EXPECT_TRUE(tree.evict_oldest());
  EXPECT_EQ(pool.stats().used, 0);
  EXPECT_EQ(tree.find(PrefixTree::kRoot, key(a)), -1);
}

TEST(PrefixTree, EvictsTheOldestLeafThatNobodyHolds) {
  BlockPool pool(layout_of(4), 8 * layout_of(4).block_bytes);
  PrefixTree tree(pool);
  const auto add = [&](int parent, int first, bool held) {
    const BlockId block = pool.allocate();
    const int node = tree.insert(parent, key(tokens_from(first)), block);
    if (!held) pool.release(block);
    return node;
  };
  const int trunk = add(PrefixTree::kRoot, 0, false);
  add(trunk, 100, false);  // old leaf
  const int young = add(trunk, 200, false);
  const int held = add(PrefixTree::kRoot, 300, true);
  tree.touch_path(young);
  ASSERT_TRUE(tree.evict_oldest());
  EXPECT_EQ(tree.find(trunk, key(tokens_from(100))), -1);
  ASSERT_TRUE(tree.evict_oldest());
  EXPECT_EQ(tree.find(trunk, key(tokens_from(200))), -1);
  ASSERT_TRUE(tree.evict_oldest());
  EXPECT_EQ(tree.find(PrefixTree::kRoot, key(tokens_from(0))), -1);
  EXPECT_FALSE(tree.evict_oldest());
  EXPECT_EQ(tree.find(PrefixTree::kRoot, key(tokens_from(300))), held);
}

}  // namespace
}  // namespace genai
