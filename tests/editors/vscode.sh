#!/usr/bin/env bash
# Tests torchvet server and its extension in VS Code (code-server in Chromium):
#
#     bash tests/editors/vscode.sh [path of torchvet] [folder for screenshots]
#
# The first run installs its tools in target/editors. If TORCHVET_PYTHON names a Python with PyTorch,
# a finding is verified, too.
set -euo pipefail
cd "$(dirname "$0")/../.."

torchvet=$(realpath "${1:-target/debug/torchvet}")
screenshots=${2:-}
[ -z "$screenshots" ] || screenshots=$(mkdir -p "$screenshots" && realpath "$screenshots")
tools=$PWD/target/editors
mkdir -p "$tools"

quietly() { "$@" >"$tools/log" 2>&1 || { tail -50 "$tools/log"; exit 1; }; }
install() { quietly npm install --prefix "$1" --no-package-lock --no-audit --no-fund "${@:2}"; }

missing=()
command -v chromium >/dev/null || missing+=(chromium)
dpkg -s libkrb5-dev >/dev/null 2>&1 || missing+=(libkrb5-dev)
command -v make >/dev/null && command -v g++ >/dev/null || missing+=(build-essential)
command -v npm >/dev/null || missing+=(npm)
if [ ${#missing[@]} -gt 0 ]; then
    quietly apt-get update
    quietly apt-get install -y "${missing[@]}"
fi

# code-server builds native modules for the Node that will run it. npm's package `node` also contains
# the headers; it is installed first, in a separate folder.
[ -e "$tools/node/node_modules/node/bin/node" ] || install "$tools/node" node@24
node=$(dirname "$(find -L "$tools/node/node_modules" -path '*/include/node/node.h' | head -1)")/../..
node=$(realpath "$node")
export PATH=$node/bin:$PATH npm_config_nodedir=$node npm_config_unsafe_perm=true
[ -e "$tools/code-server/complete" ] || {
    install "$tools/code-server" code-server
    touch "$tools/code-server/complete"
}
[ -d "$tools/browser/node_modules/playwright-core" ] || install "$tools/browser" playwright-core
code_server=$tools/code-server/node_modules/.bin/code-server

(
    cd editors/vscode
    [ -d node_modules ] || quietly npm install --no-package-lock --no-audit --no-fund
    quietly npm run package
)

# Runs the test with temporary folders for the user and the project.
drive() {
    work=$(mktemp -d)
    server=
    trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
    mkdir -p "$work/project" "$work/user/User" "$work/user/Machine"
    cat >"$work/user/User/settings.json" <<JSON
{
    "torchvet.path": ["$torchvet"],
    "torchvet.inlayHints": "all",
    "torchvet.probe.python": "${TORCHVET_PYTHON:-}",
    "security.workspace.trust.enabled": false,
    "workbench.startupEditor": "none",
    "workbench.enableExperiments": false,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "chat.disableAIFeatures": true,
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "extensions.autoUpdate": false,
    "extensions.ignoreRecommendations": true,
    "editor.minimap.enabled": false,
    "editor.lightbulb.enabled": "off",
    "files.autoSave": "off"
}
JSON
    # On a remote machine, settings with paths of programs must be machine settings.
    cp "$work/user/User/settings.json" "$work/user/Machine/settings.json"
    cat >"$work/project/train.py" <<'PY'
import torch
import torch.nn.functional as F


logits = torch.randn(4, 3)
target = torch.tensor([0, 1, 3, 2])

loss = F.cross_entropy(logits, target)
logits.to("cuda")
PY
    python3 - "$work/project/lesson.ipynb" <<'PY'
import json, sys

sources = ["import torch\nimport torch.nn.functional as F", "logits = torch.randn(4, 3)",
           "F.cross_entropy(logits, torch.tensor([0, 1, 3, 2]))"]
cells = [{"cell_type": "code", "id": str(number), "execution_count": None, "metadata": {}, "outputs": [], "source": source}
         for number, source in enumerate(sources)]
kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
          "language_info": {"name": "python"}}
json.dump({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, open(sys.argv[1], "w"))
PY

    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    options=(--user-data-dir "$work/user" --extensions-dir "$work/extensions" --config "$work/config.yaml")
    quietly "$code_server" "${options[@]}" --install-extension editors/vscode/dist/torchvet.vsix
    "$code_server" "${options[@]}" --auth none --bind-addr "127.0.0.1:$port" --disable-telemetry \
        --disable-update-check --disable-workspace-trust >"$work/log" 2>&1 &
    server=$!
    for _ in $(seq 100); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
        sleep 0.2
    done
    cd "$tools/browser"
    timeout 300 node "$OLDPWD/tests/editors/vscode.mjs" \
        "http://127.0.0.1:$port/?folder=$work/project" "$work/project" "$screenshots"
}

# A browser on a busy machine may miss a click, so a failed test runs a second time. (In the
# background, because `set -e` has no effect in a part of a condition.)
drive &
wait $! || {
    echo "VS Code once more:"
    drive &
    wait $!
}
