"""The float32 import generates what Hugging Face transformers generates in float32 on the same dequantized weights.

    python tests/e2e/greedy_as_transformers.py PROGRAM MODELS

The KV cache is f32, as by default for such weights. The expected tokens are in tests/golden/e2e/hf_greedy.json. Where ours differ, the two best logits must be a tie within
rounding; that prompt's later tokens follow another text and aren't compared.
"""
import sys

import support


def main():
    program, model = support.need(sys.argv[1]), support.need(sys.argv[2] + "/f32")
    report, compared, longest = support.Report(), 0, 0
    for case in support.golden_cases():
        prompt, wanted = case["prompt"], case["tokens"]
        ours = support.generate(program, model, prompt, len(wanted), "--kv-type", "f32")["token_ids"]
        same = support.common_prefix(ours, wanted)
        compared, longest = compared + same, max(longest, len(prompt))
        if same == len(wanted) == len(ours):
            report(True, f"{same} tokens after a prompt of {len(prompt)}")
        elif same < len(ours):
            margin = case["margins"][same]
            report(margin < support.TIE, f"token {same} of {len(wanted)} after a prompt of {len(prompt)}: "
                   f"{ours[same]}, not {wanted[same]}; the best two logits are {margin} apart")
        else:
            report(False, f"only {len(ours)} tokens of {len(wanted)} after a prompt of {len(prompt)}")
    report(compared >= 1280 and longest >= 1500, f"{compared} tokens compared, prompts up to {longest} tokens")
    report.finish()


if __name__ == "__main__":
    main()
