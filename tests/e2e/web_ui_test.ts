// The stock Web UI of gns3-server, loaded from the gateway in a real Chromium, with its AI panel talking to us: GNS3 itself
// runs without AI features.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { slow, text, toolCalls } from "../../src/practice/model_script.ts";
import { API_KEY } from "../fakes/chat.ts";
import { browserMissing, openWindow, type Window } from "./browser.ts";
import { eventually, gns3, startCopilot } from "./copilot.ts";
import { type Lab, labMissing, startLab } from "./lab.ts";
import { testWhere } from "./needs.ts";

const INPUT = ".gns3-chat-input-area__textarea";
const SEND = ".gns3-chat-input-area__send-button";
const STOP = ".gns3-chat-input-area__send-button--abort";
const SESSION = ".gns3-chat-session-list__session";

async function logIn({ page }: Window, base: string, username: string, password: string): Promise<void> {
  await page.goto(`${base}/`);
  await page.fill("input[formcontrolname=username]", username);
  await page.fill("input[formcontrolname=password]", password);
  await page.click("button:has-text('Login')");
}

async function openChat({ page }: Window, lab: Lab): Promise<void> {
  await page.click(`text=${lab.project.name}`);
  await page.click(".ai-chat-button");
  await page.waitForSelector(INPUT);
}

async function send(page: Page, message: string): Promise<void> {
  await page.fill(INPUT, message);
  await page.click(SEND);
}

/** Lets alice see the pictures of nodes, which a pool of projects does not contain. */
async function allowSymbols({ base_url, tokens }: Lab): Promise<void> {
  const admin = (method: string, path: string, body?: unknown) =>
    gns3(base_url, tokens.admin, method, path, body);
  const { user_id } = await gns3(base_url, tokens.alice, "GET", "/v3/access/users/me");
  const { role_id } = (await admin("GET", "/v3/access/roles")).find(({ name }: { name: string }) =>
    name === "User"
  );
  const ace = { ace_type: "user", path: "/symbols", propagate: true, allowed: true, user_id, role_id };
  await admin("POST", "/v3/access/acl", ace);
}

/** Waits until the answer is over: the stop button has become the send button again. */
async function answered(page: Page): Promise<void> {
  await page.waitForSelector(`${SEND}:not(${STOP})`);
}

/** Titles in the list of sessions, from its top. */
const titles = (page: Page) => page.locator(".gns3-chat-session-list__title").allInnerTexts();

/** Chooses from the menu of the session with this title. */
async function choose(page: Page, title: string, action: string): Promise<void> {
  await page.locator(SESSION, { hasText: title }).locator(".gns3-chat-session-list__menu-button").click();
  await page.locator("[role=menuitem]", { hasText: action }).click();
}

testWhere(
  labMissing() ?? browserMissing(),
  "the stock Web UI works through the gateway: a model profile, a chat with a tool call on real PCs, rename, pin, delete, stop",
  async (t) => {
    await using lab = await startLab({ version: "3.1.0a7", vpcs: 2, slot: 53 });
    await using copilot = await startCopilot(lab, { args: ["--gateway"] });
    await using window = await openWindow();
    const { page, shot } = window;
    const { model } = copilot;
    await allowSymbols(lab);
    const chat = copilot.chat(lab.tokens.alice);
    const { user_id } = await gns3(lab.base_url, lab.tokens.alice, "GET", "/v3/access/users/me");
    const configs = () =>
      gns3(copilot.url, lab.tokens.alice, "GET", `/v3/access/users/${user_id}/llm-model-configs`);
    const failures: string[] = [];
    page.on("response", (response) => {
      const path = new URL(response.url()).pathname;
      if (response.status() >= 400) {
        failures.push(`${response.status()} ${response.request().method()} ${path}`);
      }
    });
    const step = (name: string, run: () => Promise<void>) =>
      t.step(name, async () => {
        try {
          await run();
        } catch (error) {
          await shot(`failed ${name}`);
          throw error;
        }
      });

    await step("log in", async () => {
      await logIn(window, copilot.url, "alice", (lab.users as Record<string, string>).alice!);
      await page.waitForSelector(`text=${lab.project.name}`);
      await shot("1 projects");
    });

    await step("add a model profile in the settings page", async () => {
      await page.click("button:has-text('alice')");
      await page.click("[role=menuitem]:has-text('AI Profile')");
      await page.click("button:has-text('New profile')");
      await page.click("button:has-text('Custom Mode')");
      await page.waitForSelector("input[formcontrolname=base_url]");
      const fields = {
        name: "Mine",
        provider: "openai",
        base_url: model.url,
        api_key: API_KEY,
        model: "from-the-page",
      };
      for (const [name, value] of Object.entries({ ...fields, temperature: "0.2", context_limit: "64" })) {
        await page.fill(`input[formcontrolname=${name}]`, value);
      }
      await page.click("mat-select[formcontrolname=copilot_mode]");
      await page.click("mat-option:has-text('Lab Automation Assistant')");
      await page.click("text=Set as default configuration");
      await shot("2 model profile");
      await page.click("mat-dialog-actions button:has-text('Create')");
      await page.waitForSelector("app-ai-profile-tab >> text=Mine");
      await shot("3 model profiles");
      const { configs: [stored] } = await configs();
      assert.deepEqual(
        [
          stored.name,
          stored.is_default,
          stored.config.model,
          stored.config.context_limit,
          stored.config.api_key,
        ],
        ["Mine", true, "from-the-page", 64, null],
      );
      await page.locator("mat-dialog-actions button:has-text('Close')").last().click();
    });

    await step("open the project", async () => {
      await openChat(window, lab);
      await page.locator("svg text", { hasText: "PC1" }).first().waitFor();
      await shot("4 project");
    });

    await step("chat with a tool call on real VPCS nodes", async () => {
      const config = [{ device_name: "PC1", commands: ["ip 10.9.0.1/24", "show ip"] }];
      const call = { name: "execute_vpcs_commands", args: { device_configs: config } };
      const tag = model.script("web", [
        toolCalls([call], { before: "I set the address." }),
        text("**PC1** has the address `10.9.0.1`."),
      ], { title: text("Address of PC1") });
      await send(page, `Give PC1 an address ${tag}`);
      await page.waitForSelector("app-chat-message-list >> text=has the address");
      await answered(page);
      const shown = await page.locator("app-chat-message-list").innerText();
      for (const part of ["I set the address.", "execute_vpcs_commands", "PC1 has the address 10.9.0.1."]) {
        assert.ok(shown.includes(part), `${part} is not in\n${shown}`);
      }
      await shot("5 answer with a tool call");
      // The stored profile was used, not the model that the server has for everybody.
      const used = model.requests("web").map(({ body }) => [body.model, body.temperature]);
      assert.deepEqual(used[0], ["from-the-page", 0.2]);
      const [session] = await chat.json("GET", "/sessions");
      const [, , result] = await chat.messages(session.thread_id);
      assert.match(result.content, /10\.9\.0\.1\/24/);
      // The result of the tool, as the panel shows it.
      await page.locator(".gns3-chat-message-list__tool-result").click();
      await page.waitForSelector(".cdk-overlay-container >> text=10.9.0.1/24");
      await shot("6 result of the tool");
      await page.keyboard.press("Escape");
    });

    await step("an answer that is being given can be stopped", async () => {
      await page.click(".gns3-ai-chat__sidebar-title");
      await page.click("text=New Chat");
      await send(
        page,
        `Talk for long ${model.script("long", [slow(5000, 10)], { title: text("A long talk") })}`,
      );
      await page.waitForSelector("app-chat-message-list >> text=link");
      await page.click(STOP);
      await answered(page);
      await model.waitFor(() => model.requests("long")[0]!.fate === "cut");
      await shot("7 stopped");
      const [session] = await chat.json("GET", "/sessions");
      assert.equal(session.stats.aborted_turns, 1);
    });

    await step("a session can be renamed", async () => {
      const [session] = await chat.json("GET", "/sessions");
      await choose(page, session.title, "Rename");
      const field = page.locator(`${SESSION} input`);
      await field.fill("Stopped lab talk");
      await field.press("Enter");
      await page.waitForSelector(`${SESSION} >> text=Stopped lab talk`);
      const [renamed] = await chat.json("GET", "/sessions");
      assert.equal(renamed.title, "Stopped lab talk");
    });

    await step("a session can be pinned, and stands first", async () => {
      assert.deepEqual(await titles(page), ["Stopped lab talk", "Address of PC1"]);
      await choose(page, "Address of PC1", "Pin");
      await eventually(async () => (await titles(page))[0] === "Address of PC1", "the pinned session on top");
      const [first] = await chat.json("GET", "/sessions");
      assert.deepEqual([first.title, first.pinned], ["Address of PC1", true]);
      await shot("8 renamed and pinned");
    });

    await step("a session can be deleted", async () => {
      await choose(page, "Stopped lab talk", "Delete");
      await page.waitForSelector("text=Delete chat?");
      await shot("9 delete");
      await page.locator(".cdk-overlay-container button", { hasText: /delete/i }).last().click();
      await eventually(async () => (await titles(page)).length === 1, "one session in the list");
      assert.deepEqual((await chat.json("GET", "/sessions")).map(({ title }: { title: string }) => title), [
        "Address of PC1",
      ]);
    });

    await step("after a reload the conversation is there", async () => {
      await page.reload();
      await page.click(".ai-chat-button");
      await page.click(".gns3-ai-chat__sidebar-title");
      await page.click(`${SESSION} >> text=Address of PC1`);
      await page.waitForSelector("app-chat-message-list >> text=has the address");
      await shot("10 after a reload");
    });

    await t.step("nothing failed but what GNS3 itself does not have", () => {
      // A page is first asked for without a token, and so is a picture.
      const known = /^401 GET \/v3\/(access\/users\/me$|symbols\/)/;
      const odd = failures.filter((failure) => !known.test(failure));
      assert.deepEqual(odd, []);
      assert.doesNotMatch(copilot.log(), /"level":"error"/);
      for (const secret of [...Object.values(lab.tokens), API_KEY]) {
        assert.ok(!copilot.log().includes(secret));
      }
    });
  },
);
