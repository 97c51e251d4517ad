#!/usr/bin/env bash
# Tests torchvet server in Neovim: bash tests/editors/neovim.sh [path of torchvet]
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v nvim >/dev/null || { apt-get update -qq && apt-get install -y -qq neovim; } >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
TORCHVET=$(realpath "${1:-target/debug/torchvet}") TORCHVET_FOLDER=$folder \
    XDG_STATE_HOME=$folder XDG_CACHE_HOME=$folder XDG_DATA_HOME=$folder \
    timeout 120 nvim --headless -u NONE -i NONE -n -c "luafile tests/editors/neovim.lua"
