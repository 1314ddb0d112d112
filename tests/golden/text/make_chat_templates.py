#!/usr/bin/env python3
"""Writes chat_templates.json: templates of our own that use every feature the renderer has, and what Python's jinja2
makes of them, set up as `transformers` sets it up.

usage: make_chat_templates.py     (jinja2's version is recorded in the file)
"""
import json
from pathlib import Path

import jinja2

from hf_environment import environment

MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi there, \"you\" & <me>\n  é世界"},
    {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1, "y": [1.5, True, None]}}}]},
    {"role": "tool", "content": "42"},
]
VARIABLES = {"messages": MESSAGES, "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True, "n": 7, "f": 2.5,
             "words": ["b", "A", "c", "a"], "d": {"b": 1, "a": {"k": "v"}}, "nothing": None, "text": "  Hello World  "}

TEMPLATES = r"""
{% for m in messages %}{{ m.role }}: {{ m['content'] }}{% if not loop.last %}, {% endif %}{% endfor %}
===
{%- for m in messages -%}
  {%- if m.role == 'user' -%}
    [{{ m.content | trim }}]
  {%- elif m.tool_calls is defined -%}
    {%- for c in m.tool_calls %}{{ c.function.name }}({{ c.function.arguments | tojson }}){% endfor -%}
  {%- else -%}
    ({{ loop.index0 }}/{{ loop.length }} {{ loop.first }} {{ loop.revindex }})
  {%- endif -%}
{%- endfor -%}
===
  {% if true %}
kept line
    {% endif %}
after
===
a
  {%+ if true %}b{% endif +%}
c
===
{# a comment #}
x {#- another -#}  y
===
{% set ns = namespace(found=false, count=0) %}{% for w in words %}{% if w == 'c' %}{% set ns.found = true %}{% endif %}{% set ns.count = ns.count + 1 %}{% endfor %}{{ ns.found }} {{ ns.count }}
===
{% set x = 1 %}{% for i in range(3) %}{% set x = i %}{{ x }}{% endfor %}{{ x }}
===
{% macro greet(name, greeting='Hello') %}{{ greeting }}, {{ name }}!{% endmacro %}{{ greet('A') }} {{ greet('B', greeting='Hi') }} {{ greet(name='C') }}
===
{% macro outer(a) %}<{{ inner(a) }}>{% endmacro %}{% macro inner(a) %}[{{ a }}]{% endmacro %}{{ outer(3) }}
===
{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 1 + 2 * 3 }} {{ (1 + 2) * 3 }} {{ 10 - 2 - 3 }} {{ 'a' ~ 1 ~ none }} {{ 'ab' * 3 }} {{ [1] + [2] }} {{ -2 ** 2 }}
===
{{ 1 < 2 < 3 }} {{ 1 == 1.0 }} {{ 'a' < 'b' }} {{ 'x' in 'xyz' }} {{ 5 not in [1, 2] }} {{ not true and false }} {{ none is none }} {{ 1 if false }} {{ 1 if false else 2 }}
===
{{ messages[1].content[:8] }}|{{ messages[1].content[-2:] }}|{{ words[::-1] }}|{{ words[1:3] }}|{{ 'abc'[0] }}|{{ words[-1] }}|{{ messages[-1]['role'] }}
===
{{ d }} {{ words }} {{ nothing }} {{ true }} {{ f }} {{ 1e20 }} {{ 1.0 }} {{ 0.1 + 0.2 }} {{ ('a', 1) }} {{ ('a',) }} {{ {'a': "it's"} }} {{ ['a"b', "tab\t"] }}
===
{{ d | tojson }} {{ messages[1] | tojson }} {{ messages[2] | tojson(indent=2) }} {{ [] | tojson }} {{ {} | tojson(indent=2) }} {{ d | tojson(sort_keys=true) }} {{ messages[1].content | tojson(ensure_ascii=true) }} {{ d | tojson(separators=(',', ':')) }}
===
{{ text | trim }}|{{ text | upper }}|{{ text | lower }}|{{ 'hello world' | title }}|{{ 'hELLO' | capitalize }}|{{ words | join(', ') }}|{{ words | first }}{{ words | last }}|{{ words | length }}|{{ words | sort }}|{{ words | sort(reverse=true, case_sensitive=true) }}|{{ words | reverse | list }}|{{ words | unique | list }}
===
{{ d | items | list }} {{ d.items() | list }} {{ d | dictsort }} {{ d.keys() | list }} {{ d.get('zz') }} {{ d.get('zz', 'no') }} {{ d.a.k }} {{ d['a']['k'] }} {% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}
===
{{ undefined_thing | default('fallback') }} {{ nothing | default('x') }} {{ '' | default('y', true) }} {{ undefined_thing is defined }} {{ undefined_thing }} {{ undefined_thing is none }}
===
{{ 'a,b,,c'.split(',') }} {{ ' a  b '.split() }} {{ 'a,b,c'.split(',', 1) }} {{ 'x.y.z'.rsplit('.', 1) }} {{ '--x--'.strip('-') }} {{ '  y'.lstrip() }} {{ 'y  '.rstrip() }}| {{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'c')) }} {{ 'aXbX'.replace('X', '-') }} {{ 'aXbX'.replace('X', '-', 1) }} {{ 'abcb'.find('b') }} {{ '-'.join(['a', 'b']) }} {{ 'ab\ncd'.splitlines() }} {{ '7'.zfill(3) }} {{ 'Straße'.upper() }} {{ '12'.isdigit() }}
===
{{ messages | map(attribute='role') | list }} {{ words | map('upper') | list }} {{ messages | selectattr('role', 'equalto', 'user') | list | length }} {{ messages | rejectattr('tool_calls', 'defined') | map(attribute='role') | join('-') }} {{ [1, 2, 3, 4] | select('odd') | list }} {{ [0, 1, none] | reject('none') | list }} {{ [3, 1, 2] | max }} {{ [3, 1, 2] | min }} {{ [1, 2] | sum }}
===
{{ n is odd }} {{ n is divisibleby 7 }} {{ n is number }} {{ text is string }} {{ d is mapping }} {{ words is iterable }} {{ words is sequence }} {{ nothing is not none }} {{ n is integer }} {{ f is float }} {{ true is boolean }} {{ true is true }} {{ n is eq 7 }} {{ n in [7] and n is not string }}
===
{% for a, b in [(1, 2), (3, 4)] %}{{ a + b }} {% endfor %}{% for x in [] %}never{% else %}empty{% endfor %}{% for x in range(10) if x is even %}{{ x }}{{ loop.cycle('a', 'b') }}{% endfor %}
===
{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}
===
{% set block %}line {{ n }}{% endset %}[{{ block }}] {% set up | upper %}shout{% endset %}{{ up }} {% filter upper %}filtered {{ n }}{% endfilter %}
===
{% raw %}{{ not rendered }} {% if %}{% endraw %} {{ '{{' }} {{ "a" "b" }} {{ 'q\'uote' }} {{ "\u00e9\x41\n" }}
===
{{ 'one\ntwo\n\nthree' | indent(2) }}|{{ 'one\ntwo' | indent(2, true) }}|{{ 'a\n\nb' | indent(2, blank=true) }}
===
{{ loop is defined }} {% for m in messages %}{{ loop.previtem.role if loop.previtem is defined else '-' }}>{{ loop.nextitem.role if not loop.last else '-' }} {% endfor %}
===
{% set a, b = 1, 2 %}{{ a }}{{ b }} {{ {'x': 1}.x }} {{ {'a': {'b': {}}} }} {{ '%s' }} {{ 3 | abs }} {{ -3 | abs }} {{ 2.567 | round(1) }} {{ '12' | int + 1 }} {{ 'x' | int(5) }} {{ '1.5' | float }} {{ 3.7 | int }}
===
{{ raise_exception('roles must alternate: ' ~ n) }}
===
{{ undefined_thing.attribute }}
===
{{ 1 + 'a' }}
===
{{ words | nonexistent }}
===
{% if x
===
{{ 'unclosed }}
===
{% for x in y %}
===
{{ undefined_function() }}
===
{{ 1 // 0 }}
===
{% generation %}marked {{ n }}{% endgeneration %} end
===
{% macro wrap() %}({{ caller() }}){% endmacro %}{% call wrap() %}inside {{ n }}{% endcall %}
===
{%- set ns = namespace(is_first=true) %}{{- bos_token }}
{%- for message in messages if message.content is not none %}
    {%- if message.role == 'system' %}{{- '<|im_start|>system\n' + message.content + '<|im_end|>\n' }}
    {%- else %}{{- '<|im_start|>' + message.role + '\n' + message.content | trim + '<|im_end|>\n' }}{%- set ns.is_first = false %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}
"""


def main():
    cases = []
    for source in TEMPLATES.strip("\n").split("\n===\n"):
        try:
            cases.append({"template": source, "output": environment().from_string(source).render(**VARIABLES)})
        except Exception as error:  # noqa: BLE001 - whatever jinja2 refuses, we must refuse
            message = str(error) if "roles must" in str(error) else ""
            cases.append({"template": source, "error": message})
    result = {"made_by": Path(__file__).name, "jinja2": jinja2.__version__, "variables": VARIABLES, "cases": cases}
    Path(__file__).with_name("chat_templates.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(cases)} cases, {sum('error' in c for c in cases)} of them errors")


if __name__ == "__main__":
    main()
