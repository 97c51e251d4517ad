// "Verify this finding": shows the probe's verdict beside the line.

import { dirname } from "node:path";
import * as vscode from "vscode";
import { run, selectedPython } from "./binary";

/** The verdict on a finding, as `torchvet check --verify --output-format json` prints it. */
interface Witness {
  status: string;
  message?: string | null;
  reason?: string | null;
  program?: string | null;
  judge?: string | null;
}

interface Entry {
  code: string;
  cell: number | null;
  location: { row: number; column: number };
  message: string;
  verdict?: { witness: Witness } | null;
}

const MARKS: Record<string, string> = { reproduced: "✓", refuted: "✗" };

export class Verification implements vscode.CodeActionProvider, vscode.Disposable {
  private readonly decoration = vscode.window.createTextEditorDecorationType({
    after: { margin: "0 0 0 2em", color: new vscode.ThemeColor("editorCodeLens.foreground"), fontStyle: "italic" },
  });
  private readonly shown = new Map<string, vscode.DecorationOptions[]>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly binary: () => string | undefined,
    private readonly output: vscode.LogOutputChannel,
  ) {
    this.subscriptions = [
      this.decoration,
      // A verdict is about the code before the change.
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && this.shown.delete(document.uri.toString())) {
          this.draw();
        }
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
    ];
  }

  dispose(): void {
    this.subscriptions.forEach((one) => one.dispose());
  }

  provideCodeActions(
    document: vscode.TextDocument,
    _range: vscode.Range,
    context: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    if (document.uri.scheme !== "file" || !vscode.workspace.isTrusted) {
      return [];
    }
    return context.diagnostics.filter(isRule).map((diagnostic) => {
      const action = new vscode.CodeAction(`Verify ${codeOf(diagnostic)} on PyTorch`, vscode.CodeActionKind.QuickFix);
      action.command = { command: "torchvet.verify", title: action.title, arguments: [document.uri, diagnostic] };
      action.diagnostics = [diagnostic];
      return action;
    });
  }

  /** Verifies a finding, or the one at the cursor. */
  async verify(uri?: vscode.Uri, diagnostic?: vscode.Diagnostic): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const document = uri ? await vscode.workspace.openTextDocument(uri) : editor?.document;
    const finding = diagnostic ?? (editor && at(editor));
    const binary = this.binary();
    if (document === undefined || finding === undefined || binary === undefined) {
      const what = binary === undefined ? "torchvet was not found." : "There is no finding of torchvet here.";
      void vscode.window.showInformationMessage(what);
      return;
    }
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showWarningMessage("torchvet verifies nothing in a workspace that is not trusted.");
      return;
    }
    const options = { location: vscode.ProgressLocation.Window, title: `torchvet: verifying ${codeOf(finding)}…` };
    await vscode.window.withProgress(options, async () => {
      try {
        this.show(document, finding, await this.ask(binary, document, finding));
      } catch (error) {
        this.output.error(String(error));
        void vscode.window.showErrorMessage(`torchvet: ${error instanceof Error ? error.message : error}`);
      }
    });
  }

  private async ask(binary: string, document: vscode.TextDocument, finding: vscode.Diagnostic): Promise<Witness> {
    const path = document.uri.fsPath;
    const python = await selectedPython();
    const args = ["check", "--verify", "--output-format", "json", "--stdin-filename", path, "--quiet", "--exit-zero"];
    args.push(...(python === undefined ? [] : ["--python", python]), "-");
    const { code, stdout, stderr } = await run(binary, args, document.getText(), dirname(path));
    if (/unexpected argument '--verify'/.test(stderr)) {
      throw new Error("this torchvet cannot verify findings yet: install a newer one");
    }
    if (code !== 0 && stdout.trim() === "") {
      throw new Error(stderr.trim().split("\n")[0] || `torchvet ended with code ${code}`);
    }
    const entries = JSON.parse(stdout) as Entry[];
    const { line } = finding.range.start;
    const found = entries.find((entry) => entry.code === codeOf(finding) && entry.location.row === line + 1);
    if (found === undefined) {
      throw new Error("the finding is no longer there");
    }
    if (found.verdict === undefined || found.verdict === null) {
      throw new Error(stderr.trim() || "torchvet gave no verdict");
    }
    return found.verdict.witness;
  }

  private show(document: vscode.TextDocument, finding: vscode.Diagnostic, witness: Witness): void {
    const said = witness.message ?? witness.reason ?? "";
    const text = `${MARKS[witness.status] ?? "?"} ${witness.status}${said === "" ? "" : `: ${said.split("\n")[0]}`}`;
    const hover = new vscode.MarkdownString(`**${codeOf(finding)}** ${text}`);
    if (witness.status === "reproduced") {
      hover.appendMarkdown("\n\nA call with these arguments fails. Whether the program makes it, only a run shows.");
    }
    if (witness.program) {
      hover.appendCodeblock(witness.program, "python");
    }
    const line = document.lineAt(finding.range.start.line).range;
    const range = new vscode.Range(line.end, line.end);
    const key = document.uri.toString();
    const others = (this.shown.get(key) ?? []).filter((one) => !one.range.isEqual(range));
    const options = { range, hoverMessage: hover, renderOptions: { after: { contentText: text } } };
    this.shown.set(key, [...others, options]);
    this.output.info(`${document.uri.fsPath}:${line.start.line + 1}: ${codeOf(finding)} ${text}`);
    this.draw();
  }

  private draw(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      editor.setDecorations(this.decoration, this.shown.get(editor.document.uri.toString()) ?? []);
    }
  }
}

/** The code of a diagnostic, which may have a link. */
export function codeOf(diagnostic: vscode.Diagnostic): string {
  const { code } = diagnostic;
  return String(typeof code === "object" ? code.value : (code ?? ""));
}

/** Whether a diagnostic is a finding of one of torchvet's rules. */
export function isRule(diagnostic: vscode.Diagnostic): boolean {
  return diagnostic.source === "torchvet" && /^[A-Z]+\d{3}$/.test(codeOf(diagnostic));
}

/** The finding at the cursor, or on its line. */
export function at(editor: vscode.TextEditor): vscode.Diagnostic | undefined {
  const all = vscode.languages.getDiagnostics(editor.document.uri).filter(isRule);
  const cursor = editor.selection.active;
  const on = (one: vscode.Diagnostic) => one.range.start.line <= cursor.line && cursor.line <= one.range.end.line;
  return all.find((one) => one.range.contains(cursor)) ?? all.find(on);
}
