#!/bin/sh
# Compares our ids with Hugging Face `tokenizers` for every published tokenizer that `./dev setup` fetched.
#
#   check_real_tokenizers.sh TOKENIZE_PROGRAM BUILD_ROOT PYTHON [MEGABYTES]
#
# Exit status 77: the tokenizers or the Python environment are absent.
set -eu
program=$1 root=$2 python=$3 size=${4:-1.2}
here=$(dirname "$0")
"$python" -c 'import tokenizers' 2>/dev/null || { echo "skipped: no Python with tokenizers at $python; run ./dev setup"; exit 77; }
found=$(find "$root/tokenizers" -name tokenizer.json 2>/dev/null | sort) || true
[ -n "$found" ] || { echo "skipped: no tokenizers under $root/tokenizers; run ./dev setup"; exit 77; }
corpus=$(mktemp)
trap 'rm -f "$corpus"' EXIT
"$python" "$here/../golden/text/make_corpus.py" "$corpus" "$size"
# shellcheck disable=SC2086  (paths of the build folder, one word each)
"$python" "$here/compare_tokenizers.py" "$program" "$corpus" $found
