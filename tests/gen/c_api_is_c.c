/* Compiled as C: the header must be, and a C program must get through an answer with nothing else. */
#include <genai/genai.h>
#include <string.h>

/* Tokenizes, generates and puts the text together; answers 0 when everything went as the header says. */
int genai_c_program(const char* folder, char* text, size_t capacity) {
  int32_t ids[64];
  size_t count = 0, used = 0;
  genai_options options = {sizeof(genai_options), NULL, 1, 0, 0};
  genai_request request = {sizeof(genai_request), ids, 0, 8, 0, 0, 1, 0, 1, 1};
  genai_event event;
  genai_answer* answer;
  genai_model* model = genai_model_open(folder, &options);
  int tokens = 0;
  if (!model) return 1;
  if (genai_encode(model, "the fox", 7, 1, ids, 64, &count) != NXRT_OK || count == 0) return 2;
  request.prompt_count = count;
  answer = genai_submit(model, &request);
  if (!answer) return 3;
  do {
    if (genai_next(answer, &event) != NXRT_OK) return 4;
    if (event.token >= 0) ++tokens;
    if (used + event.bytes >= capacity) return 5;
    memcpy(text + used, event.text, event.bytes);
    used += event.bytes;
  } while (event.kind != GENAI_END);
  text[used] = 0;
  genai_answer_free(answer);
  genai_model_close(model);
  return tokens == 8 ? 0 : 6;
}
