// What a request asks of the sampler becomes what the engine is told.
#include "serve/sampling_fields.h"

#include <gmock/gmock.h>

#include "serve/server_bench.h"

namespace genai::serve {
namespace {
using testing::ElementsAre;

Request read(const Json& body) {
  Fields fields(body);
  return SamplingFields(fields, 0).request({}, ByteTokenizer());
}

std::vector<int> breakers(const Json& value) {
  std::vector<int> ids;
  for (const TokenId id : read({{"dry_multiplier", 1}, {"dry_sequence_breakers", value}}).sampling.dry.breakers) {
    ids.push_back(id.value);
  }
  return ids;
}

TEST(SamplingFields, DryBreakersAreIdsOrTexts) {
  EXPECT_THAT(breakers(Json::array({7, 9})), ElementsAre(7, 9));
  EXPECT_THAT(breakers(Json::array({"\n", ":"})), ElementsAre('\n', ':'));
  EXPECT_THAT(breakers(Json::array({5, "*"})), ElementsAre(5, '*'));
  EXPECT_THAT(breakers(Json::array({"ab"})), ElementsAre('b'));  // no token holds both: it ends with this one
  for (const Json& wrong : {Json::array({""}), Json::array({1.5}), Json::array({-1}), Json::array({nullptr}),
                            Json("text"), Json::array({std::string(65, 'a')}), Json(Json::array_t(257, 1))}) {
    EXPECT_THROW(breakers(wrong), ApiError) << wrong;
  }
}

TEST(SamplingFields, SpeculationCanBeTurnedOff) {
  EXPECT_TRUE(read(Json::object()).speculate);
  EXPECT_FALSE(read({{"speculate", false}}).speculate);
  EXPECT_THROW(read({{"speculate", "no"}}), ApiError);
}

}  // namespace
}  // namespace genai::serve
