#!/usr/bin/env bash
set -euo pipefail
# CUDA_LAUNCH_BLOCKING=1 helps to find an assert
if [[ "${1:-}" == "--debug" ]]; then
    export CUDA_LAUNCH_BLOCKING=1
fi
export CUDA_LAUNCH_BLOCKING=${CUDA_LAUNCH_BLOCKING:-0}
[ -n "${TRACE:-}" ] && export CUDA_LAUNCH_BLOCKING=1
echo "CUDA_LAUNCH_BLOCKING=1 $0 for a better trace"
torchrun --nproc_per_node=8 train.py
