"""openvino-genai on its own conversion of the GGUF file; several streams go through its continuous batching."""
import child
import numpy
import openvino
import openvino_genai as ov


def open_model(arguments):
    scheduler = ov.SchedulerConfig()
    scheduler.enable_prefix_caching = False
    scheduler.max_num_seqs = 256
    return ov.ContinuousBatchingPipeline(arguments["model"], scheduler, "CPU",
                                         {"INFERENCE_NUM_THREADS": arguments["threads"]})


def answer(pipeline, prompts, new, clock):
    config = ov.GenerationConfig(max_new_tokens=new, ignore_eos=True, do_sample=False)
    handles = [pipeline.add_request(i, openvino.Tensor(numpy.array([ids], dtype=numpy.int64)), config)
               for i, ids in enumerate(prompts)]
    made, waiting = 0, set(range(len(handles)))
    while pipeline.has_non_finished_requests():
        pipeline.step()
        for i, handle in enumerate(handles):
            if handle.can_read():
                made += sum(len(output.generated_ids) for output in handle.read().values())
                waiting.discard(i)
        if not waiting and clock.first == clock.begin:
            clock.first_tokens()
    clock.done()
    assert made == new * len(prompts), f"made {made} tokens, expected {new * len(prompts)}"


child.report(open_model, answer)
