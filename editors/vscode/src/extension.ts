// torchvet in VS Code: starts `torchvet server`, and adds features that the protocol does not have.

import * as vscode from "vscode";
import { LanguageClient, State } from "vscode-languageclient/node";
import { findBinary, run } from "./binary";
import { Verification, at, codeOf } from "./verify";

const LANGUAGES = [{ language: "python" }, { notebook: "jupyter-notebook", language: "python" }];

/** Files that launch programs, and may set environment variables. */
const LAUNCH = ["shellscript", "dockerfile", "dotenv", "dockercompose", "yaml"].map((language) => ({ language }));

/** The settings that the server itself reads. */
const OWN = ["enable", "select", "ignore", "inlayHints"];

let client: LanguageClient | undefined;
let binary: string | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("torchvet", { log: true });
  const verification = new Verification(() => binary, output);
  const pages = new Pages();
  const command = (name: string, act: (...args: never[]) => unknown) =>
    vscode.commands.registerCommand(`torchvet.${name}`, act);
  context.subscriptions.push(
    output,
    verification,
    command("restart", () => restart(context, output)),
    command("showOutput", () => output.show()),
    command("explainRule", () => explain()),
    command("verify", (uri?: vscode.Uri, finding?: vscode.Diagnostic) => verification.verify(uri, finding)),
    vscode.workspace.registerTextDocumentContentProvider("torchvet-rule", pages),
    vscode.languages.registerCodeActionsProvider(LANGUAGES, verification, {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (["path", "importStrategy"].some((key) => change.affectsConfiguration(`torchvet.${key}`))) {
        await restart(context, output);
      } else if (OWN.some((key) => change.affectsConfiguration(`torchvet.${key}`))) {
        await client?.sendNotification("workspace/didChangeConfiguration", { settings: settings() });
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => restart(context, output)),
  );
  await start(context, output);
}

export async function deactivate(): Promise<void> {
  await stop();
}

function settings(): Record<string, unknown> {
  const all = vscode.workspace.getConfiguration("torchvet");
  return Object.fromEntries(OWN.map((key) => [key, all.get(key)]));
}

async function start(context: vscode.ExtensionContext, output: vscode.LogOutputChannel): Promise<void> {
  binary = await findBinary(context);
  if (binary === undefined) {
    output.error("torchvet was not found: `pip install torchvet`, or set `torchvet.path`");
    const settings = "Open Settings";
    void vscode.window
      .showErrorMessage("torchvet was not found. Install it (`pip install torchvet`) or set its path.", settings)
      .then((choice) => choice && vscode.commands.executeCommand("workbench.action.openSettings", "torchvet.path"));
    return;
  }
  const version = (await run(binary, ["version"]).catch(() => undefined))?.stdout.trim();
  output.info(`${version ?? "torchvet"}: ${binary}`);
  const server = { command: binary, args: ["server"] };
  client = new LanguageClient("torchvet", "torchvet", { run: server, debug: server }, {
    documentSelector: [...LANGUAGES, ...LAUNCH],
    initializationOptions: { settings: settings() },
    outputChannel: output,
    diagnosticCollectionName: "torchvet",
  });
  await client.start().catch((error: unknown) => output.error(`the server does not start: ${error}`));
}

async function stop(): Promise<void> {
  const old = client;
  client = undefined;
  if (old !== undefined && old.state !== State.Stopped) {
    await old.stop().catch(() => undefined);
  }
  await old?.dispose().catch(() => undefined);
}

async function restart(context: vscode.ExtensionContext, output: vscode.LogOutputChannel): Promise<void> {
  await stop();
  await start(context, output);
}

/** The pages of the rules, from the binary. */
class Pages implements vscode.TextDocumentContentProvider {
  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    if (binary === undefined) {
      return "torchvet was not found.";
    }
    const { stdout, stderr } = await run(binary, ["rule", uri.path.replace(/\.md$/, "")]);
    return stdout || stderr;
  }
}

/** Shows the page of the rule under the cursor, or of a rule that the user chooses. */
async function explain(): Promise<void> {
  if (binary === undefined) {
    return;
  }
  const editor = vscode.window.activeTextEditor;
  const here = editor && at(editor);
  const rule = here ? codeOf(here) : await choose(binary);
  if (rule !== undefined) {
    const uri = vscode.Uri.from({ scheme: "torchvet-rule", path: `${rule}.md` });
    await vscode.commands.executeCommand("markdown.showPreview", uri);
  }
}

async function choose(torchvet: string): Promise<string | undefined> {
  const { stdout } = await run(torchvet, ["rule", "--all", "--output-format", "json"]);
  const all = JSON.parse(stdout) as { code: string; name: string; summary: string }[];
  const items = all.map(({ code, name, summary }) => ({ label: code, description: name, detail: summary }));
  const options = { matchOnDescription: true, matchOnDetail: true, placeHolder: "Which rule?" };
  return (await vscode.window.showQuickPick(items, options))?.label;
}
