/* genai: generates text with ONNX model packages on CPUs. The C interface; genai.hpp is the same promise with C++
 * types.
 *
 *   genai_model* model = genai_model_open("models/smollm2", NULL);
 *   genai_answer* answer = genai_submit(model, &request);          // any number at once: they share each step
 *   while (genai_next(answer, &event) == NXRT_OK && event.kind != GENAI_END) fwrite(event.text, 1, event.bytes,
 * stdout); genai_answer_free(answer);
 *
 * Threads: any number of threads may use one model; an answer belongs to one thread at a time.
 * Errors:  codes and their meaning are nxrt.h's; a function that fails answers NULL or a code other than NXRT_OK, and
 *          genai_error_text describes the last failure of the calling thread. No C++ exception leaves a function of
 * this header. A NULL where an object is expected is NXRT_INVALID_ARGUMENT. Memory:  what a function creates, its
 * _close or _free releases (NULL is fine). Freeing an answer cancels it. A model may be closed before its answers are
 * freed; those that run end as cancelled.
 */
#ifndef GENAI_GENAI_H_
#define GENAI_GENAI_H_

#include <nxrt/nxrt.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct genai_model genai_model;
typedef struct genai_answer genai_answer;

nxrt_code genai_error_code(void);   /* of the calling thread's last failure */
const char* genai_error_text(void); /* what, where and what to do; several lines; until the thread's next failure */

typedef struct genai_options {
  size_t size;         /* sizeof(genai_options): lets later versions add fields */
  const char* isa;     /* as nxrt_options */
  int threads;         /* 0: as many as this process may use CPUs */
  int context_length;  /* most tokens of a prompt and its answer; 0: the model's */
  int64_t kv_bytes;    /* memory of the KV cache, taken as it is needed; 0: 1 GiB */
  const char* kv_type; /* of the KV cache's elements: "f32", "f16"; NULL or "auto": f32 for float32 weights, else f16 */
} genai_options;

genai_model* genai_model_open(const char* folder, const genai_options* options); /* options may be NULL */
void genai_model_close(genai_model* model);
int genai_context_length(const genai_model* model);
int genai_vocab_size(const genai_model* model);

/* Text → ids, and back. *count and *bytes receive the whole size; with too little capacity nothing is written and the
 * code is NXRT_OUT_OF_CAPACITY. special_tokens: add what the tokenizer adds to a prompt. */
nxrt_code genai_encode(const genai_model* model, const char* text, size_t bytes, int special_tokens, int32_t* ids,
                       size_t capacity, size_t* count);
nxrt_code genai_decode(const genai_model* model, const int32_t* ids, size_t count, char* text, size_t capacity,
                       size_t* bytes);

typedef struct genai_request {
  size_t size;           /* sizeof(genai_request) */
  const int32_t* prompt; /* copied */
  size_t prompt_count;
  int max_tokens;    /* 0: as many as the context holds */
  float temperature; /* 0: the most likely token, always */
  int top_k;         /* 0: off */
  float top_p;       /* 0 or 1: off */
  float min_p;       /* 0: off */
  int64_t seed;      /* below 0: from the operating system */
  int ignore_eos;    /* go on after the package's end-of-text tokens */
} genai_request;

genai_answer* genai_submit(genai_model* model, const genai_request* request);

typedef enum genai_event_kind {
  GENAI_TOKEN = 0,   /* one more token, and the text it completes (maybe none) */
  GENAI_STOPPED = 1, /* ended by an end-of-text token */
  GENAI_LENGTH = 2,  /* ended by max_tokens, the context or the cache */
  GENAI_CANCELLED = 3,
  GENAI_FAILED = 4, /* genai_next answered the code of what failed */
  GENAI_END = 5     /* nothing more comes */
} genai_event_kind;

typedef struct genai_event {
  genai_event_kind kind; /* 1 to 4 end the answer; their text is part of it */
  int32_t token;         /* -1: none */
  const char* text;      /* UTF-8, also ended by a zero; until the next call for this answer */
  size_t bytes;
} genai_event;

nxrt_code genai_next(genai_answer* answer, genai_event* event); /* waits */
void genai_cancel(genai_answer* answer);                        /* from any thread; the last event still comes */
void genai_answer_free(genai_answer* answer);

#ifdef __cplusplus
}
#endif
#endif /* GENAI_GENAI_H_ */
