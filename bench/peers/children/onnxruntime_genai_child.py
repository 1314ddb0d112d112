"""onnxruntime-genai on the same ONNX folder; several streams are one static batch."""
import child
import numpy
import onnxruntime_genai as og


def open_model(arguments):
    config = og.Config(arguments["model"])
    options = {"intra_op_num_threads": arguments["threads"]}
    config.overlay(child.json.dumps({"model": {"decoder": {"session_options": options}}}))
    return og.Model(config)


def answer(model, prompts, new, clock):
    length = len(prompts[0]) + new
    parameters = og.GeneratorParams(model)
    parameters.set_search_options(max_length=length, min_length=length, do_sample=False, batch_size=len(prompts))
    generator = og.Generator(model, parameters)
    generator.append_tokens(numpy.array(prompts, dtype=numpy.int32))
    generator.generate_next_token()
    clock.first_tokens()
    for _ in range(new - 1):
        generator.generate_next_token()
    clock.done()


child.report(open_model, answer)
