#!/usr/bin/env bash
# Makes the virtual environment of the comparison, build/compare-venv.
#
#     test/bench/compare/setup.sh
#
# About 10 GB (PyPI's torch brings the CUDA libraries along) and some minutes:
# llama.cpp is built from source for this machine's own instructions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

requirements=test/bench/compare/requirements.txt
venv=build/compare-venv
stamp=$venv/complete

if [[ -f $stamp ]] && cmp -s "$stamp" "$requirements"; then
  echo "setup: $venv is up to date"
  exit 0
fi
for tool in python3 cmake ninja cc c++; do
  command -v "$tool" >/dev/null || fail "$tool is needed to build llama.cpp; install it first"
done
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "python3 must be 3.11 or newer; this one is $(python3 --version)"

rm -f "$stamp"
mkdir -p build
python3 -m venv "$venv" || fail "python3 -m venv failed; Debian has it in python3-venv"
# One compiler at a time: the largest sources of llama.cpp need 2 GB.
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-1}
export CMAKE_ARGS="-DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON -DLLAVA_BUILD=OFF ${CMAKE_ARGS:-}"
nice -n 19 "$venv/bin/pip" install --disable-pip-version-check \
  --no-binary llama-cpp-python -r "$requirements" ||
  fail "pip could not install what $requirements lists"
cp "$requirements" "$stamp"
echo "setup: $venv is complete"
