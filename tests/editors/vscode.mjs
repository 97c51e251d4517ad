// Tests the server and its extension in VS Code (code-server, in a headless Chromium): squiggles,
// hover, a quick fix, inlay hints, a notebook, and a verified finding. See vscode.sh.
//
//     node vscode.mjs URL FOLDER [SCREENSHOTS]

import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { join } from "node:path";

const { chromium } = createRequire(join(process.cwd(), "package.json"))("playwright-core");
const [url, folder, screenshots] = process.argv.slice(2);
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];
args.push("--disable-background-networking", "--disable-component-update", "--disable-sync");

const context = await chromium.launchPersistentContext(join(folder, "..", "chromium"), {
  executablePath,
  args,
  viewport: { width: 960, height: 420 },
});
const page = context.pages()[0] ?? (await context.newPage());
page.setDefaultTimeout(60_000);

const step = async (what, act) => {
  const start = Date.now();
  try {
    await act();
    console.log(`ok: ${what} (${Date.now() - start} ms)`);
  } catch (error) {
    if (screenshots) {
      await page.screenshot({ path: join(screenshots, "failed.png") });
    }
    console.error(`FAILED: ${what}\n${error}`);
    await context.close();
    process.exit(1);
  }
};
const picture = async (name) => {
  if (screenshots) {
    await page.screenshot({ path: join(screenshots, `vscode-${name}.png`), caret: "hide" });
  }
};
const press = (keys) => page.keyboard.press(keys);
// VS Code displays spaces as no-break spaces.
const holds = (part) => page.waitForFunction(
  (part) => document.querySelector(".part.editor").innerText.replaceAll("\u00a0", " ").includes(part), part);
// A part of the window that is still loading, such as a rule's page, may take the focus and so close the
// input. Then the input is opened again.
const input = async (keys, text, answer) => {
  for (let attempt = 0; ; attempt += 1) {
    await press(keys);
    try {
      await page.locator(".quick-input-widget input").fill(text, { timeout: 10_000 });
      await answer?.waitFor({ timeout: 10_000 });
      return await press("Enter");
    } catch (error) {
      if (attempt === 5) {
        throw error;
      }
      await press("Escape");
    }
  }
};
const row = (name) => page.locator(".quick-input-list .monaco-list-row.focused", { hasText: name }).first();
const open = async (name) => {
  await input("Control+p", name, row(name));
  await page.locator(".tab.active", { hasText: name }).waitFor();
};
const command = (name) => input("F1", `>${name}`, row(name));
const goTo = async (line, column) => {
  await input("Control+g", `:${line}:${column}`);
  await page.locator(".statusbar", { hasText: `Ln ${line}, Col ${column}` }).waitFor();
  await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
};
// An action at the cursor. On a busy machine, the first answer may be about the text before the edit.
const offered = async (title) => {
  const action = page.locator(".action-widget .monaco-list-row", { hasText: title });
  for (let attempt = 0; ; attempt += 1) {
    await press("Control+.");
    try {
      await action.waitFor({ timeout: 10_000 });
      return action;
    } catch (error) {
      if (attempt === 3) {
        throw error;
      }
      await press("Escape");
    }
  }
};
// The element of a part of a line.
const word = (line, name) => page.locator(".editor-instance .view-line", { hasText: line }).locator("span", { hasText: name }).last();

await step("VS Code starts", async () => {
  await page.goto(url);
  await page.locator(".monaco-workbench .part.editor").waitFor();
  await page.locator(".part.sidebar").waitFor();
  await press("Control+b");
});
await step("a script is opened", () => open("train.py"));
await step("findings are marked", async () => {
  await page.locator(".squiggly-error").first().waitFor();
  await page.locator(".squiggly-warning, .squiggly-error").nth(1).waitFor();
});
await step("inlay hints show shapes", () => holds(": float32[4, 3] cpu"));
await step("hover shows the finding", async () => {
  await word("cross_entropy", "cross_entropy").hover();
  await page.locator(".monaco-hover", { hasText: "target holds 3" }).waitFor();
  await picture("finding");
});
await step("hover shows facts", async () => {
  await page.mouse.move(5, 410);
  await goTo(8, 25);
  await command("Show or Focus Hover");
  await page.locator(".monaco-hover", { hasText: "logits: float32[4, 3]" }).waitFor();
  await picture("facts");
  await press("Escape");
});
await step("a quick fix is applied", async () => {
  await goTo(9, 1);
  const fix = await offered("Assign the result");
  await picture("fixes");
  await fix.click();
  await holds('logits = logits.to("cuda")');
  await page.waitForFunction(() => document.querySelectorAll(".squiggly-error, .squiggly-warning").length === 1);
});
if (process.env.TORCHVET_PYTHON) {
  await step("a finding is verified", async () => {
    await goTo(8, 10);
    await command("torchvet: Verify This Finding");
    const shown = page.locator(".monaco-editor .view-line", { hasText: "cross_entropy" });
    await page.waitForFunction(() =>
      [...document.querySelectorAll(".view-line span")].some((span) =>
        ["::after", "::before"].some((pseudo) => getComputedStyle(span, pseudo).content.includes("reproduced"))));
    await shown.waitFor();
    await picture("verified");
  });
}
await step("a finding is ignored", async () => {
  await goTo(8, 10);
  await (await offered("Ignore TV103 here")).click();
  await holds("# torchvet: ignore[TV103]");
  await page.waitForFunction(() => document.querySelectorAll(".squiggly-error").length === 0);
  await press("Control+z");
  await page.locator(".squiggly-error").first().waitFor();
});
await step("a rule is explained", async () => {
  await goTo(8, 10);
  await command("torchvet: Explain Rule");
  await page.locator(".tab.active", { hasText: "TV103" }).waitFor();
});
await step("a notebook is opened and marked", async () => {
  await open("lesson.ipynb");
  await page.locator(".notebookOverlay .squiggly-error").first().waitFor();
  await picture("notebook");
});
await step("an edit in one cell changes another", async () => {
  await page.locator(".notebookOverlay .view-line", { hasText: "randn" }).first().click();
  await press("End");
  await press("ArrowLeft");
  await press("Backspace");
  await page.keyboard.type("5");
  await page.waitForFunction(() => document.querySelectorAll(".notebookOverlay .squiggly-error").length === 0);
});
await step("the server is restarted", async () => {
  await command("torchvet: Restart Server");
  await open("train.py");
  await page.locator(".squiggly-error").first().waitFor();
});
await context.close();
