// Finds the torchvet to run, and the Python whose PyTorch verifies findings.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import * as vscode from "vscode";

const NAME = process.platform === "win32" ? "torchvet.exe" : "torchvet";
const SCRIPTS = process.platform === "win32" ? "Scripts" : "bin";
const PYTHON = process.platform === "win32" ? "python.exe" : "python";

/** The path of torchvet; `undefined` if there is none. */
export async function findBinary(context: vscode.ExtensionContext): Promise<string | undefined> {
  const settings = vscode.workspace.getConfiguration("torchvet");
  const named = settings.get<string[]>("path", []).map(resolved);
  const bundled = context.asAbsolutePath(join("bundled", NAME));
  const around = settings.get("importStrategy") === "useBundled" ? [] : await environment();
  return [...named, ...around, bundled].find((path) => existsSync(path));
}

/** The possible places in environments and on the path, the nearest first. */
async function environment(): Promise<string[]> {
  const python = await selectedPython();
  const beside = python === undefined ? [] : [join(dirname(python), NAME)];
  const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []) : [];
  const local = folders.flatMap(({ uri }) => [".venv", "venv"].map((name) => join(uri.fsPath, name, SCRIPTS, NAME)));
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const home = [join(homedir(), ".local", "bin"), join(homedir(), ".cargo", "bin")];
  return [...beside, ...local, ...[...path, ...home].map((folder) => join(folder, NAME))];
}

/** The Python that the user has chosen, in torchvet's settings or in the Python extension. */
export async function selectedPython(): Promise<string | undefined> {
  const named = vscode.workspace.getConfiguration("torchvet").get<string>("probe.python", "");
  if (named !== "") {
    return resolved(named);
  }
  const python = vscode.extensions.getExtension("ms-python.python");
  if (python === undefined) {
    return localPython();
  }
  try {
    const api = python.isActive ? python.exports : await python.activate();
    const active = api?.environments?.getActiveEnvironmentPath?.();
    const found = active && (await api.environments.resolveEnvironment(active));
    return found?.executable?.uri?.fsPath ?? localPython();
  } catch {
    // The Python extension may change its interface; then the local environment is used.
    return localPython();
  }
}

function localPython(): string | undefined {
  const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []) : [];
  const local = folders.flatMap(({ uri }) => [".venv", "venv"].map((name) => join(uri.fsPath, name, SCRIPTS, PYTHON)));
  return local.find((path) => existsSync(path));
}

function resolved(path: string): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  return path.replace("${workspaceFolder}", folder).replace(/^~(?=[/\\])/, homedir());
}

/** The result of a run of torchvet. */
export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs torchvet with `input` as its standard input. */
export function run(binary: string, args: string[], input = "", cwd?: string): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = execFile(binary, args, { cwd, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      const code = error?.code ?? 0;
      if (typeof code === "number") {
        resolve({ code, stdout, stderr });
      } else {
        reject(error);
      }
    });
    // If the program ends before it has read everything, its exit code shows it.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}
