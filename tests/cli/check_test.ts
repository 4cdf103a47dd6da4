// `gns3-copilot check` and `backup` as they are run from a shell.
import assert from "node:assert/strict";
import { join } from "node:path";
import { slow, text } from "../../src/practice/model_script.ts";
import { startChatServer } from "../fakes/chat.ts";
import { startFromSource } from "../fakes/program.ts";
import { garble } from "../storage/full.ts";
import { namesIn } from "../storage/helpers.ts";

async function run(...args: string[]) {
  const { code, out, err } = await startFromSource(args).ended();
  assert.equal(err, "");
  return { code, lines: out.trimEnd().split("\n") };
}

const complaint = async (...args: string[]) => (await startFromSource(args).ended()).err;

Deno.test("check and backup work beside a running server, which notices nothing; --repair waits until it lets go", async () => {
  await using server = await startChatServer();
  const { projectsDir, projectId: id } = server.gns3;
  const options = ["--projects-dir", projectsDir];
  const alice = server.chat("alice");
  const stream = await alice.start(server.model.script("t", [slow(5000, 20)]));
  await stream.untilType("content");
  assert.deepEqual(await run("check", ...options), {
    code: 0,
    lines: [`${id}: whole, 1 session, 1 message; a server is using it`],
  });
  assert.deepEqual(
    (await run("check", "--repair", id, ...options)).lines[1],
    `${id}: not made smaller while a server is using it`,
  );
  const copy = join(projectsDir, "copy.db");
  const { code, lines } = await run("backup", id, "--to", copy, ...options);
  assert.deepEqual([code, lines], [0, [`${id}: 1 session, 1 message, copied to ${copy}`]]);
  const before = stream.text.length;
  await stream.until(() => stream.text.length > before);
  await alice.json("POST", `/sessions/${stream.sessionId}/abort`);
  await stream.end();
  assert.equal(stream.last.finish_reason, "aborted");

  // The backup takes the database's place, as the README says.
  await server.restart();
  const file = join(server.gns3.project(id).path, "gns3-copilot", "copilot_checkpoints.db");
  Deno.copyFileSync(copy, file);
  assert.deepEqual((await alice.messages(stream.sessionId)).map(({ role }) => role), ["user"]);
  assert.equal(
    (await alice.send(server.model.script("u", [text("on")]), { session_id: stream.sessionId })).text,
    "on",
  );
});

Deno.test("the chat of a damaged database names the command that repairs it, and that does", async () => {
  await using server = await startChatServer();
  const { projectsDir, projectId: id } = server.gns3;
  const options = ["--projects-dir", projectsDir];
  const alice = server.chat("alice");
  const { sessionId } = await alice.send(server.model.script("t", [text("fine")]));
  const folder = join(server.gns3.project(id).path, "gns3-copilot");
  const file = join(folder, "copilot_checkpoints.db");
  await server.restart();
  Deno.writeFileSync(file, garble(Deno.readFileSync(file), 0, 100));

  const { message } = await alice.json("GET", "/sessions", undefined, 500);
  assert.match(message, /gns3-copilot\/copilot_checkpoints\.db .*`gns3-copilot check --repair`/);
  const found = await run("check", id, ...options);
  assert.deepEqual(found, {
    code: 1,
    lines: [
      `${id}: not whole`,
      "  The file is damaged: SQLite cannot read it.",
      `${id}: gns3-copilot check --repair ${id} recovers what is readable`,
    ],
  });
  const { code, lines } = await run("check", "--repair", ...options);
  assert.equal(code, 0);
  assert.match(lines[1]!, /^ +The file is damaged/);
  assert.match(
    lines[2]!,
    /: repaired, 1 session, 2 messages; the damaged file is kept as .*\.damaged-\d{8}T\d{9}Z$/,
  );
  assert.equal(namesIn(folder).filter((name) => name.includes("damaged")).length, 1);
  assert.equal((await alice.messages(sessionId)).at(-1).content, "fine");
  await alice.send(server.model.script("u", [text("on")]), { session_id: sessionId });
});

Deno.test("check and backup name a project by id or folder, and say what they cannot use", async () => {
  await using server = await startChatServer();
  const { projectsDir, projectId: id } = server.gns3;
  const options = ["--projects-dir", projectsDir];
  const { path } = server.gns3.project(id);
  assert.deepEqual(await run("check", ...options), { code: 0, lines: ["No project has a chat database."] });
  assert.match(await complaint("check", id, ...options), /^The project in .* has no chat database\.\n$/);
  assert.match(await complaint("backup", "nobody", ...options), /^There is no project folder .*nobody\.\n$/);
  assert.match(
    await complaint("backup", "--form", "x"),
    /^Unknown option '--form'.*--help lists the options of backup\.\n$/,
  );
  assert.match(await complaint("check", "--projects-dir"), /--help lists the options of check\.\n$/);

  await server.chat("alice").send(server.model.script("t", [text("fine")]));
  await server.restart();
  assert.deepEqual((await run("check", path)).lines, [`${id}: whole, 1 session, 2 messages`]);
  Deno.mkdirSync(join(projectsDir, "odd"));
  Deno.symlinkSync(join(path, "gns3-copilot"), join(projectsDir, "odd", "gns3-copilot"));
  const { code, lines } = await run("check", ...options);
  assert.deepEqual([code, lines.length], [1, 3]);
  assert.match(lines.find((line) => line.startsWith("odd: "))!, /outside of the projects directory/);
  assert.ok(lines.includes("1 of 2 chat databases are whole."));
  assert.match(await complaint("backup", "--to", "one.db", ...options), /is one file, for 2 projects/);
});
