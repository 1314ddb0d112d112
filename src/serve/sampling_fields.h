// The request fields that choose tokens, shared by chat and plain completions.
//
//   SamplingFields sampling(fields, server_limit);
//   Request request = sampling.request(model.generation, *model.tokenizer);
//
// What the request leaves open comes from the package. Threads: a value. Errors: ApiError{400} naming the field.
#pragma once

#include "gen/request.h"
#include "package/model_spec.h"
#include "serve/fields.h"
#include "text/tokenizer.h"

namespace genai::serve {

class SamplingFields {
 public:
  SamplingFields(Fields& fields, int max_output_tokens, int least_tokens = 1);
  // Without prompt and logprobs.
  Request request(const GenerationDefaults& package, const Tokenizer& tokenizer) const;

  std::optional<int> max_tokens;
  int n = 1;
  bool stream = false, include_usage = false, include_stop = false;
  std::vector<std::string> stop;

 private:
  void read_stop(Fields& fields);
  void read_stream(Fields& fields);
  void read_max_tokens(Fields& fields, int max_output_tokens, int least_tokens);
  void read_filters(Fields& fields);
  void read_penalties(Fields& fields);
  void read_dry_breakers(Fields& fields);
  void read_logit_bias(Fields& fields);
  bool stochastic() const;

  std::optional<float> temperature_, top_p_, min_p_, repetition_penalty_;
  std::optional<int> top_k_;
  SamplingOptions given_;  // the fields without a default in the package
  std::vector<std::string> dry_breaker_texts_;
  bool ignore_eos_ = false, skip_special_tokens_ = true, speculate_ = true;
};

}  // namespace genai::serve
