#!/usr/bin/env python3
"""Every published template in a folder × many conversations: our rendering against Python's jinja2, byte for byte.

usage: compare_chat_templates.py RENDER_PROGRAM FOLDER     exit 77: the folder is not there (a skipped test)
"""
import html
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "golden/text"))
from hf_environment import environment  # noqa: E402

CALL = {"id": "call_1a2b3c4d5", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Paris", "days": 3, "ok": True, "x": None}}}
CALL_TEXT = {"id": "call_1a2b3c4d5", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris", "days": 3}'}}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "The weather\nof a city", "parameters": {
    "type": "object", "required": ["city"], "properties": {
        "city": {"type": "string", "description": "Name, e.g. \"Paris\""},
        "days": {"type": "integer", "default": 1, "enum": [1, 2, 3]},
        "where": {"type": "object", "properties": {"lat": {"type": "number"}, "tags": {"type": "array", "items": {"type": "string"}}}},
    }}}}]

USER = {"role": "user", "content": "What's the weather in <Paris> & \"Lyon\"?\n  été 世界 🙂"}
ASSISTANT = {"role": "assistant", "content": "Fine."}
SYSTEM = {"role": "system", "content": "  Be brief.  "}
THOUGHT = {"role": "assistant", "content": "<think>\nhm\n</think>\n\nAnswer", "reasoning_content": "hm"}
PARTS = {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}

CONVERSATIONS = {
    "user": [USER],
    "system": [SYSTEM, USER],
    "turns": [SYSTEM, USER, ASSISTANT, USER],
    "thought": [USER, THOUGHT, USER],
    "parts": [PARTS],
    "tool_call": [USER, {"role": "assistant", "content": "", "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "call_1a2b3c4d5", "name": "get_weather", "content": "{\"t\": 20}"}],
    "tool_call_text": [SYSTEM, USER, {"role": "assistant", "content": None, "tool_calls": [CALL_TEXT, CALL_TEXT]}, {"role": "tool", "name": "get_weather", "content": "20"}, {"role": "tool", "name": "get_weather", "content": "21"}, ASSISTANT, USER],
    "two_users": [USER, USER],
    "assistant_last": [USER, ASSISTANT],
    "empty": [],
    "wrong_role": [{"role": "wizard", "content": "x"}],
}
OPTIONS = [{"add_generation_prompt": True}, {"add_generation_prompt": False}, {"add_generation_prompt": True, "tools": TOOLS},
           {"add_generation_prompt": True, "enable_thinking": False, "tools": None}, {"add_generation_prompt": True, "date_string": "26 Jul 2024", "documents": []}]


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    if not folder.is_dir():
        print(f"skipped: there is no {folder}")
        return 77
    jobs, expected = [], []
    for file in sorted(folder.glob("*.jinja")):
        source = file.read_text()
        compiled = environment().from_string(source)
        for name, messages in CONVERSATIONS.items():
            for option in OPTIONS:
                variables = {"messages": messages, "bos_token": "<s>", "eos_token": "</s>", **option}
                try:
                    wanted = {"output": compiled.render(**variables)}
                except Exception as error:  # noqa: BLE001
                    wanted = {"error": f"{type(error).__name__}: {error}"}
                jobs.append(json.dumps({"template": source, "variables": variables}))
                expected.append((file.name, source, name, sorted(option), wanted))
    answers = subprocess.run([program], input="\n".join(jobs) + "\n", capture_output=True, text=True, check=True).stdout.strip("\n").split("\n")
    assert len(answers) == len(jobs), "the program ended early"
    equal = refused = lenient = 0
    problems = []
    for (file, source, conversation, option, wanted), line in zip(expected, answers):
        answer = json.loads(line)
        if "error" in wanted:
            refused += "error" in answer
            # The sandbox of transformers refuses list methods, and its map() gives no list; templates that need them work here.
            if "error" not in answer:
                lenient += 1
                if "SecurityError" not in wanted["error"] and "generator is not JSON" not in wanted["error"]:
                    problems.append(f"{file} {conversation} {option}: jinja2 refuses ({wanted['error'][:120]}), we render")
        elif answer == wanted or ("|safe" in source and answer.get("output") == html.unescape(wanted["output"])):
            equal += 1  # jinja2's |safe escapes what is joined to it for HTML, which no template means
        else:
            ours = answer.get("output", answer.get("error"))
            at = next((i for i, (a, b) in enumerate(zip(ours, wanted["output"])) if a != b), min(len(ours), len(wanted["output"])))
            problems.append(f"{file} {conversation} {option}: at {at}\n    jinja2: {wanted['output'][max(at - 30, 0):at + 60]!r}\n    ours:   {ours[max(at - 30, 0):at + 60]!r}")
    for problem in problems[:40]:
        print(problem)
    print(f"{equal} renderings equal, {refused} refused by both, {lenient} only jinja2 refuses, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
