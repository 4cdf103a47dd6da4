import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { openDatabase } from "../../src/storage/database.ts";
import { ChatSessionsRepository, type NewSession } from "../../src/storage/sessions.ts";
import { SqliteSaver } from "../../src/storage/checkpoints.ts";
import { openProjectDatabase } from "../../src/storage/database.ts";
import { refusal, runTurns, turnRecord, withProject } from "./helpers.ts";

const NOW = new Date("2026-03-01T10:00:00.000Z");

/** A repository in memory, with the sessions named, each a second later than the one before. */
function repository(...created: (string | Partial<NewSession>)[]) {
  const db = openDatabase(":memory:");
  const sessions = new ChatSessionsRepository(db, "p1");
  for (const [i, session] of created.entries()) {
    const parts = typeof session === "string" ? { thread_id: session } : session;
    const now = new Date(NOW.getTime() + 1000 * i);
    sessions.create({ thread_id: `t${i}`, user_id: "u1", project_id: "p1", now, ...parts });
  }
  return { db, sessions };
}

/** Tells `heard` what a method is called with, until it is disposed of. */
function listening(prototype: DatabaseSync, method: "exec", heard: (sql: string) => void): Disposable {
  const before = prototype[method];
  prototype[method] = function (sql) {
    heard(sql);
    return before.call(this, sql);
  };
  return { [Symbol.dispose]: () => void (prototype[method] = before) };
}

const page = { limit: 100, offset: 0 };

Deno.test("create answers the session with exactly the fields of the contract", () => {
  const { sessions } = repository();
  const created = sessions.create({
    thread_id: "t1",
    user_id: "u1",
    project_id: "p1",
    copilot_mode: "lab_automation_assistant",
    now: NOW,
  });
  assert.deepEqual(created, {
    id: 1,
    thread_id: "t1",
    user_id: "u1",
    project_id: "p1",
    title: "New conversation",
    message_count: 0,
    llm_calls_count: 0,
    input_tokens: 0,
    output_tokens: 0,
    total_tokens: 0,
    last_message_at: null,
    created_at: "2026-03-01T10:00:00.000Z",
    updated_at: "2026-03-01T10:00:00.000Z",
    metadata: { copilot_mode: "lab_automation_assistant" },
    stats: {},
    pinned: false,
  });
  assert.deepEqual(sessions.get("u1", "t1"), created);
});

Deno.test("create refuses an id that is taken, whoever has it", () => {
  const { sessions } = repository("t1");
  assert.throws(
    () => sessions.create({ thread_id: "t1", user_id: "u2", project_id: "p1" }),
    refusal("conflict", /exists already/),
  );
  assert.equal(sessions.ownerOf("t1"), "u1");
  assert.equal(sessions.ownerOf("t9"), undefined);
});

// A4
Deno.test("no method reaches another user's session or tells that it exists", () => {
  const { sessions } = repository("t1");
  const before = sessions.get("u1", "t1");
  assert.equal(sessions.get("u2", "t1"), undefined);
  assert.deepEqual(sessions.list("u2", page), { sessions: [], total: 0 });
  assert.equal(sessions.rename("u2", "t1", "mine now"), undefined);
  assert.equal(sessions.setPinned("u2", "t1", true), undefined);
  assert.equal(sessions.startTurn("u2", "t1", "turn-9", NOW), false);
  assert.equal(sessions.endTurn("u2", "t1", turnRecord()), undefined);
  assert.equal(sessions.delete("u2", "t1"), false);
  assert.deepEqual(sessions.get("u1", "t1"), before);
  assert.equal(sessions.lastTurn("t1"), undefined);
});

Deno.test("list answers pinned sessions first, then the last changed, in pages with the total", () => {
  const { sessions } = repository("a", "b", "c", "d");
  sessions.setPinned("u1", "b", true);
  const ids = (query: Parameters<typeof sessions.list>[1]) => {
    const { sessions: found, total } = sessions.list("u1", query);
    return [found.map((session) => session.thread_id).join(""), total];
  };
  assert.deepEqual(ids(page), ["bdca", 4]);
  assert.deepEqual(ids({ limit: 2, offset: 1 }), ["dc", 4]);
  assert.deepEqual(ids({ limit: 2, offset: 3 }), ["a", 4]);
  assert.deepEqual(ids({ limit: 2, offset: 9 }), ["", 4]);
  sessions.rename("u1", "a", "changed", new Date(NOW.getTime() + 60_000));
  assert.deepEqual(ids(page), ["badc", 4]);
});

Deno.test("list finds a part of the title in any case, with % and _ as they are, and a mode", () => {
  const { sessions } = repository(
    { title: "OSPF area zero" },
    { title: "100%_done" },
    { title: "Маршрутизация É 路由" },
    { title: "100 percent done", copilot_mode: "lab_automation_assistant" },
  );
  const found = (q?: string, copilot_mode?: NewSession["copilot_mode"]) =>
    sessions.list("u1", { ...page, q, copilot_mode }).sessions.map((session) => session.thread_id).join();
  assert.equal(found("ospf"), "t0");
  assert.equal(found("100%"), "t1");
  assert.equal(found("%_"), "t1");
  assert.equal(found("100_percent"), "");
  assert.equal(found("МАРШРУТ"), "t2");
  assert.equal(found("é 路"), "t2");
  assert.equal(found("done"), "t3,t1");
  assert.equal(found("done", "lab_automation_assistant"), "t3");
  assert.equal(sessions.list("u1", { limit: 1, offset: 0, q: "done" }).total, 2);
});

Deno.test("updated_at grows with every write, also within a millisecond and when the clock was set back", () => {
  const { sessions } = repository({ thread_id: "a", now: NOW }, { thread_id: "b", now: NOW });
  const times = [
    sessions.get("u1", "a")!.updated_at,
    sessions.get("u1", "b")!.updated_at,
    sessions.rename("u1", "a", "x", NOW)!.updated_at,
    sessions.rename("u1", "b", "y", new Date(NOW.getTime() - 3_600_000))!.updated_at,
    sessions.endTurn("u1", "a", turnRecord({ endedAt: NOW }))!.updated_at,
  ];
  assert.deepEqual(times, [0, 1, 2, 3, 4].map((ms) => new Date(NOW.getTime() + ms).toISOString()));
});

Deno.test("setPinned does not move updated_at", () => {
  const { sessions } = repository("a", "b");
  const before = sessions.get("u1", "a")!;
  assert.deepEqual(sessions.setPinned("u1", "a", true), { ...before, pinned: true });
  assert.deepEqual(sessions.setPinned("u1", "a", false), before);
});

// A3
Deno.test("a title that the user has set is not overwritten by an automatic one", () => {
  const { sessions } = repository({ thread_id: "a", title: "first words" }, {
    thread_id: "b",
    title: "Mine",
    titleByUser: true,
  });
  assert.deepEqual([sessions.wantsTitle("a"), sessions.wantsTitle("b")], [true, false]);
  assert.equal(sessions.endTurn("u1", "a", turnRecord({ title: "Automatic" }))?.title, "Automatic");
  assert.equal(sessions.wantsTitle("a"), false);
  assert.equal(sessions.endTurn("u1", "b", turnRecord({ title: "Automatic" }))?.title, "Mine");
  assert.equal(sessions.rename("u1", "a", "Lab 4 OSPF 路由")?.title, "Lab 4 OSPF 路由");
  assert.equal(
    sessions.endTurn("u1", "a", turnRecord({ title: "Automatic again" }))?.title,
    "Lab 4 OSPF 路由",
  );
});

// Seed 000: calls (8674, 675) and (9421, 9) give 9421, 684, 10105.
Deno.test("endTurn counts as the seed's example does, and over several turns", () => {
  const { sessions } = repository("t1");
  const first = sessions.endTurn(
    "u1",
    "t1",
    turnRecord({
      messages: 2,
      llmCalls: 2,
      inputTokens: 9421,
      outputTokens: 684,
      billedInputTokens: 18095,
      billedOutputTokens: 684,
      toolCalls: 3,
      temperature: 1.25,
      maxTokens: 99,
      endedAt: NOW,
    }),
  )!;
  assert.deepEqual([first.message_count, first.llm_calls_count], [2, 2]);
  assert.deepEqual([first.input_tokens, first.output_tokens, first.total_tokens], [9421, 684, 10105]);
  assert.equal(first.last_message_at, NOW.toISOString());
  assert.deepEqual(first.stats, {
    billed_input_tokens: 18095,
    billed_output_tokens: 684,
    tool_calls: 3,
    aborted_turns: 0,
    errors: 0,
    temperature: 1.25,
    max_tokens: 99,
  });
  const second = sessions.endTurn(
    "u1",
    "t1",
    turnRecord({
      messages: 1,
      llmCalls: 1,
      inputTokens: 12000,
      outputTokens: 16,
      billedInputTokens: 12000,
      billedOutputTokens: 16,
      cachedInputTokens: 8000,
      reasoningTokens: 5,
      estimated: true,
      finishReason: "aborted",
    }),
  )!;
  assert.deepEqual([second.message_count, second.llm_calls_count], [3, 3]);
  assert.deepEqual([second.input_tokens, second.output_tokens, second.total_tokens], [12000, 700, 12700]);
  assert.deepEqual(second.stats, {
    billed_input_tokens: 30095,
    billed_output_tokens: 700,
    tool_calls: 3,
    aborted_turns: 1,
    errors: 0,
    cached_input_tokens: 8000,
    reasoning_tokens: 5,
    estimated: true,
    temperature: 1.25,
    max_tokens: 99,
  });
  const third = sessions.endTurn(
    "u1",
    "t1",
    turnRecord({
      messages: 1,
      llmCalls: 0,
      inputTokens: 0,
      outputTokens: 0,
      billedInputTokens: 0,
      billedOutputTokens: 0,
      finishReason: "error",
    }),
  )!;
  assert.deepEqual([third.input_tokens, third.output_tokens, third.total_tokens], [12000, 700, 12700]);
  assert.equal(third.stats.errors, 1);
});

Deno.test("lastTurn tells how a session's last turn ended, also after a restart", async () => {
  await withProject(({ projects, project }) => {
    const db = openProjectDatabase(project, projects);
    const sessions = new ChatSessionsRepository(db, "p1");
    sessions.create({ thread_id: "t1", user_id: "u1", project_id: "p1", now: NOW });
    assert.equal(sessions.lastTurn("t1"), undefined);
    assert.equal(sessions.startTurn("u1", "t1", "turn-1", NOW), true);
    assert.deepEqual(sessions.lastTurn("t1"), {
      turnId: "turn-1",
      startedAt: NOW.toISOString(),
      endedAt: null,
      finishReason: null,
      usage: null,
      error: null,
      title: null,
      lastSeq: 0,
    });
    const endedAt = new Date(NOW.getTime() + 5000);
    const error = { code: "model_error", message: "The provider closed the connection." };
    sessions.endTurn(
      "u1",
      "t1",
      turnRecord({ finishReason: "error", error, title: "T", lastSeq: 41, endedAt }),
    );
    sessions.startTurn("u1", "t1", "turn-1", NOW);
    sessions.endTurn(
      "u1",
      "t1",
      turnRecord({ finishReason: "error", error, title: "T", lastSeq: 41, endedAt }),
    );
    db.close();
    using again = openProjectDatabase(project, projects);
    assert.deepEqual(new ChatSessionsRepository(again, "p1").lastTurn("t1"), {
      turnId: "turn-1",
      startedAt: NOW.toISOString(),
      endedAt: endedAt.toISOString(),
      finishReason: "error",
      usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110, llm_calls: 1 },
      error,
      title: "T",
      lastSeq: 41,
    });
  });
});

Deno.test("create notes the first turn of a session as running, and keeps neither when that fails", () => {
  const { db, sessions } = repository("t1");
  const session = { user_id: "u1", project_id: "p1", turn: { id: "turn-1", startedAt: NOW } };
  sessions.create({ ...session, thread_id: "t2" });
  const [cut] = sessions.cutTurns("t2");
  assert.deepEqual([cut!.turnId, cut!.startedAt], ["turn-1", NOW.toISOString()]);
  assert.throws(() => sessions.create({ ...session, thread_id: "t1" }), /exists already/);
  assert.equal(sessions.lastTurn("t1"), undefined);
  db.exec("CREATE TRIGGER broken BEFORE INSERT ON chat_turns BEGIN SELECT RAISE(ABORT, 'no'); END");
  assert.throws(() => sessions.create({ ...session, thread_id: "t3" }), /no/);
  assert.equal(sessions.get("u1", "t3"), undefined);
});

Deno.test("lastTurn of a turn that a crash cut off has no finishReason, and statistics are those before it", async () => {
  await withProject(({ projects, project, file }) => {
    const db = openProjectDatabase(project, projects);
    const sessions = new ChatSessionsRepository(db, "p1");
    sessions.create({ thread_id: "t1", user_id: "u1", project_id: "p1" });
    sessions.endTurn("u1", "t1", turnRecord());
    sessions.startTurn("u1", "t1", "turn-2", NOW);
    const crashed = Deno.readFileSync(file);
    const wal = Deno.readFileSync(`${file}-wal`);
    db.close();
    Deno.writeFileSync(file, crashed);
    Deno.writeFileSync(`${file}-wal`, wal);
    using again = openProjectDatabase(project, projects);
    const reopened = new ChatSessionsRepository(again, "p1");
    assert.deepEqual([reopened.lastTurn("t1")?.turnId, reopened.lastTurn("t1")?.finishReason], [
      "turn-2",
      null,
    ]);
    assert.equal(reopened.get("u1", "t1")?.message_count, 2);
  });
});

// C2
Deno.test("delete leaves nothing of a session in any table or in the file, and makes the file smaller", async () => {
  await withProject(async ({ projects, project, file }) => {
    const db = openProjectDatabase(project, projects);
    const sessions = new ChatSessionsRepository(db, "p1");
    const saver = new SqliteSaver(db);
    for (const id of ["keep", "gone"]) {
      sessions.create({ thread_id: id, user_id: "u1", project_id: "p1", title: `title of ${id}` });
      sessions.startTurn("u1", id, `turn of ${id}`, NOW);
      await runTurns(saver, id, 10, `SECRET-OF-${id} `.repeat(400));
    }
    db.checkpoint();
    const before = Deno.statSync(file).size;
    const kept = saver.messages("keep").length;
    assert.equal(sessions.delete("u1", "gone"), true);
    saver.forget("gone");
    const after = Deno.statSync(file).size;
    assert.ok(before - after > 60_000, `${before} bytes became ${after}`);
    assert.deepEqual(saver.messages("gone"), []);
    assert.equal(saver.messages("keep").length, kept);
    assert.equal(sessions.lastTurn("gone"), undefined);
    const tables = db.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    ).all();
    for (const { name } of tables) {
      const text = JSON.stringify(db.prepare(`SELECT * FROM ${name}`).arrays());
      assert.ok(!text.includes("gone"), String(name));
    }
    assert.equal(sessions.delete("u1", "gone"), false);
    db.close();
    const bytes = new TextDecoder("latin1").decode(Deno.readFileSync(file));
    assert.ok(bytes.includes("SECRET-OF-keep"));
    assert.ok(!bytes.includes("SECRET-OF-gone"), "deleted text is still readable in the file");
  });
});

// C2
Deno.test("deleteAll leaves a file about as small as a new one", async () => {
  await withProject(async ({ projects, project, file }) => {
    using db = openProjectDatabase(project, projects);
    const empty = Deno.statSync(file).size;
    const sessions = new ChatSessionsRepository(db, "p1");
    const saver = new SqliteSaver(db);
    for (const user of ["u1", "u2"]) {
      sessions.create({ thread_id: `t-${user}`, user_id: user, project_id: "p1" });
      await runTurns(saver, `t-${user}`, 10, "x".repeat(20_000));
    }
    db.checkpoint();
    assert.ok(Deno.statSync(file).size > empty + 400_000);
    assert.equal(sessions.deleteAll(), 2);
    assert.ok(Deno.statSync(file).size <= empty + 8192);
    assert.equal(db.prepare("SELECT count(*) AS n FROM saver_rows").get()?.n, 0);
  });
});

// C15
Deno.test("renaming, pinning and noting a turn change neither messages nor their count", async () => {
  const { db, sessions } = repository("t1");
  const saver = new SqliteSaver(db);
  await runTurns(saver, "t1", 1);
  sessions.endTurn("u1", "t1", turnRecord({ messages: 4 }));
  const before = saver.messages("t1").map((message) => message.toDict());
  sessions.rename("u1", "t1", "x");
  sessions.setPinned("u1", "t1", true);
  sessions.startTurn("u1", "t1", "turn-2", NOW);
  assert.equal(sessions.get("u1", "t1")?.message_count, 4);
  assert.deepEqual(new SqliteSaver(db).messages("t1").map((message) => message.toDict()), before);
});

// M2
Deno.test("a copied project's sessions are adopted: they get its id and stay their owners'", async () => {
  await withProject(({ projects, project }) => {
    const db = openProjectDatabase(project, projects);
    const sessions = new ChatSessionsRepository(db, "original");
    sessions.create({ thread_id: "t1", user_id: "u1", project_id: "original" });
    sessions.create({ thread_id: "t2", user_id: "u2", project_id: "original" });
    db.close();
    using copy = openProjectDatabase(project, projects);
    const adopted = new ChatSessionsRepository(copy, "copy");
    assert.deepEqual(adopted.list("u1", page).sessions.map((s) => [s.thread_id, s.project_id]), [[
      "t1",
      "copy",
    ]]);
    assert.deepEqual(adopted.list("u2", page).sessions.map((s) => [s.thread_id, s.project_id]), [[
      "t2",
      "copy",
    ]]);
    assert.deepEqual(adopted.list("u3", page).total, 0);
  });
});

Deno.test("deleting a session of the Python copilot deletes its rows too, and nobody else's", () => {
  const { db, sessions } = repository("t1");
  db.exec(`CREATE TABLE checkpoints (thread_id TEXT, c BLOB); CREATE TABLE writes (thread_id TEXT, w BLOB);
    INSERT INTO checkpoints VALUES ('t1', 'x'), ('other', 'y'); INSERT INTO writes VALUES ('t1', 'x'), ('other', 'y')`);
  sessions.delete("u1", "t1");
  assert.deepEqual(db.prepare("SELECT thread_id FROM checkpoints").arrays(), [["other"]]);
  assert.deepEqual(db.prepare("SELECT thread_id FROM writes").arrays(), [["other"]]);
});

Deno.test("figures that are nested without measure, in a file somebody made up, are left out", () => {
  using db = openDatabase(":memory:");
  const sessions = new ChatSessionsRepository(db, "p1");
  sessions.create({ thread_id: "t1", user_id: "u1", project_id: "p1" });
  const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  db.prepare("UPDATE chat_sessions SET metadata = ?, stats = ?").run(deep, deep);
  const { metadata, stats } = sessions.get("u1", "t1")!;
  assert.deepEqual({ metadata, stats }, { metadata: {}, stats: {} });
});

Deno.test("the end of a turn is on the disk when it is told, at the price of one wait", () => {
  const { db, sessions } = repository("t1");
  const statements: string[] = [];
  using _ = listening(DatabaseSync.prototype, "exec", (sql) => statements.push(sql));
  sessions.startTurn("u1", "t1", "turn-1", NOW);
  assert.deepEqual(statements.splice(0), ["BEGIN IMMEDIATE", "COMMIT"]);
  sessions.endTurn("u1", "t1", turnRecord());
  const full = "PRAGMA synchronous = FULL";
  assert.deepEqual(statements.splice(0), [full, "BEGIN IMMEDIATE", "COMMIT", "PRAGMA synchronous = NORMAL"]);
  assert.equal(db.pragma("synchronous"), 1);
  db.prepare("DROP TABLE chat_turns").run();
  assert.throws(() => sessions.endTurn("u1", "t1", turnRecord()));
  assert.equal(db.pragma("synchronous"), 1);
});
