#!/usr/bin/env bash
# Runs the suites whose result depends on a GPU, several at a time, and writes their closing lines to
# docs/verified-on-cuda.md.
#
#   bash tests/gpu.sh target/release/torchvet [FOLDER FOR THE LOGS]
#
# TORCHVET_PYTHON names the Python (default: python3). Needs a GPU, and expecttest and hypothesis.
set -euo pipefail
cd "$(dirname "$0")/.."
torchvet=$(realpath "$1")
logs=${2:-target/gpu}
python=${TORCHVET_PYTHON:-python3}
mkdir -p "$logs"
# Otherwise a test for a GPU initialises CUDA, and no fork could use it.
export PYTORCH_NVML_BASED_CUDA_CHECK=1 PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1

suites=()
suite() {
    local name=$1
    shift
    suites+=("$name")
    (
        timeout 600 "$@" >"$logs/$name.log" 2>&1 && echo "exit 0" || echo "exit $?"
    ) >"$logs/$name.exit" &
}

suite asserts "$python" tests/cuda.py
suite pages "$python" tests/virtual_pages.py --torchvet "$torchvet" --device cuda
suite witnesses "$python" tests/pages_verify.py --torchvet "$torchvet"
suite corpus "$python" tests/corpus_run.py --jobs 3
for part in buggy/tv10 "buggy/tv11 buggy/tv12" "buggy/tv2 buggy/tv3" "buggy/tv4 buggy/tv5" "buggy/tv0 buggy/tv6 buggy/tv8" \
    clean/tv10 "clean/tv11 clean/tv12" "clean/tv2 clean/tv3" "clean/tv0 clean/tv4 clean/tv5 clean/tv6 clean/tv8" \
    "$(printf 'clean/%s ' a b c d e f g h i j k l m)" "$(printf 'clean/%s ' n o p q r s to tr tw u v w)"; do
    name="probe-$(tr -c 'a-z0-9' '-' <<<"$part" | cut -c1-20)"
    # shellcheck disable=SC2086
    suite "$name" "$python" tests/probe_corpus.py --torchvet "$torchvet" --device cuda $part
done
suite semantics "$python" tests/semantics_run.py --torchvet "$torchvet"
suite facts "$python" tests/conformance/trace.py --torchvet "$torchvet" corpus/clean/*
suite calls "$python" tests/device_mixes.py --torchvet "$torchvet"
suite mixes "$python" tests/virtual_oracle.py --with cuda
wait

{
    echo
    echo "The other suites on this GPU (\`bash tests/gpu.sh\`):"
    echo
    echo "| suite | exit | last line |"
    echo "| --- | --- | --- |"
    for name in "${suites[@]}"; do
        echo "| $name | $(cat "$logs/$name.exit") | $(tail -n 1 "$logs/$name.log" | tr '|' '/') |"
    done
} >>docs/verified-on-cuda.md
cp docs/verified-on-cuda.md "$logs/"
sed -n '/The other suites/,$p' docs/verified-on-cuda.md
! cat "$logs"/*.exit | grep -qv 'exit 0'
