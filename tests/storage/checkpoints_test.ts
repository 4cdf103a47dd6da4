import assert from "node:assert/strict";
import { AIMessage, AIMessageChunk, type BaseMessage, RemoveMessage } from "@langchain/core/messages";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import {
  Annotation,
  Command,
  interrupt,
  messagesStateReducer,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { SqliteSaver } from "../../src/storage/checkpoints.ts";
import { type Database, openDatabase, openProjectDatabase } from "../../src/storage/database.ts";
import { answer, chatGraph, configOf, newId, runTurns, user, withProject } from "./helpers.ts";

const META = { source: "loop" as const, step: 0, parents: {} };

/** Saves a checkpoint with these channels, all of them changed, and answers its config. */
function put(saver: SqliteSaver, values: Record<string, unknown>, parent = configOf("t1")) {
  const versions = Object.fromEntries(Object.keys(values).map((name) => [name, 1]));
  const checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(0),
    channel_values: values,
    channel_versions: versions,
  };
  return saver.put(parent, checkpoint, META, versions);
}

const rowCount = (db: Database) => db.prepare("SELECT count(*) AS n FROM saver_rows").get()!.n as number;
const contents = (messages: BaseMessage[]) => messages.map((message) => message.content);

/** The bytes of the database with nothing left in the -wal file. */
function sizeOf(db: Database): number {
  db.checkpoint();
  return Deno.statSync(db.path).size;
}

Deno.test("a conversation is read back whole after the process has ended", async () => {
  await withProject(async ({ projects, project }) => {
    const db = openProjectDatabase(project, projects);
    const saver = new SqliteSaver(db);
    await runTurns(saver, "t1", 3);
    const live = saver.messages("t1").map((message) => message.toDict());
    db.close();
    using again = openProjectDatabase(project, projects);
    const reopened = new SqliteSaver(again);
    assert.deepEqual(reopened.messages("t1").map((message) => message.toDict()), live);
    assert.equal(live.length, 12);
    assert.equal(live[0]!.data.additional_kwargs!.created_at, "2026-03-01T10:00:00.000Z");
    await runTurns(reopened, "t1", 1);
    assert.equal(reopened.messages("t1").length, 16);
    assert.deepEqual(["t1", "unknown"].map((id) => reopened.countMessages(id)), [16, 0]);
    const state = await chatGraph(reopened).getState(configOf("t1"));
    assert.deepEqual([state.values.llm_calls, state.values.conversation_title], [8, "Interfaces"]);
  });
});

// C2
Deno.test("after a turn one checkpoint is left, without writes, and each message stands in one row", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  await runTurns(saver, "t1", 5);
  assert.equal(db.prepare("SELECT count(*) AS n FROM saver_checkpoints").get()?.n, 1);
  assert.equal(db.prepare("SELECT count(*) AS n FROM saver_writes").get()?.n, 0);
  assert.equal(rowCount(db), 20);
  const ids = db.prepare("SELECT count(DISTINCT id) AS n FROM saver_rows").get()?.n;
  assert.equal(ids, 20);
  assert.match(String(db.prepare("SELECT channels FROM saver_checkpoints").get()?.channels), /"1-20"/);
});

// C2: what a turn adds is the same early and late, and about the size of its messages.
Deno.test("the database grows by the same for each turn, however long the conversation is", async () => {
  await withProject(async ({ projects, project }) => {
    using db = openProjectDatabase(project, projects);
    const saver = new SqliteSaver(db);
    const toolText = "x".repeat(20_000);
    const sizes: number[] = [];
    for (let i = 0; i < 3; i++) {
      await runTurns(saver, "t1", 100, toolText);
      sizes.push(sizeOf(db));
    }
    const [second, third] = [sizes[1]! - sizes[0]!, sizes[2]! - sizes[1]!];
    assert.ok(Math.abs(third - second) < 0.02 * second, `100 turns took ${second}, then ${third} bytes`);
    assert.ok(third < 1.2 * 100 * 20_000, `100 turns of 20,000 characters took ${third} bytes`);
    assert.equal(rowCount(db), 1200);
  });
});

Deno.test("a checkpoint's row does not grow with the conversation", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  const length = () =>
    Number(
      db.prepare("SELECT length(head) + length(channels) + length(metadata) AS n FROM saver_checkpoints")
        .get()?.n,
    );
  await runTurns(saver, "t1", 2);
  const early = length();
  await runTurns(saver, "t1", 60);
  // Only the digits of a few counters.
  assert.ok(length() <= early + 30, `${early} characters became ${length()}`);
});

Deno.test("equal messages made anew are stored once", async () => {
  using db = openDatabase(":memory:");
  const make = () => [user("hello", "a"), answer("hi", "b")];
  await put(new SqliteSaver(db), { messages: make() });
  await put(new SqliteSaver(db), { messages: [...make(), user("again", "c")] });
  assert.equal(rowCount(db), 3);
});

Deno.test("a message that was changed in place is stored anew, and the old checkpoint keeps the old one", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  const message = answer("draft", "a");
  const first = await put(saver, { messages: [message] });
  message.content = "final";
  const second = await put(saver, { messages: [message] }, first as ReturnType<typeof configOf>);
  assert.deepEqual(
    contents((await saver.getTuple(first))!.checkpoint.channel_values.messages as BaseMessage[]),
    ["draft"],
  );
  assert.deepEqual(
    contents((await saver.getTuple(second))!.checkpoint.channel_values.messages as BaseMessage[]),
    ["final"],
  );
  saver.prune("t1");
  assert.equal(rowCount(db), 1);
  assert.deepEqual(contents(new SqliteSaver(db).messages("t1")), ["final"]);
});

Deno.test("a message that was removed and pruned can be added again", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  const [kept, removed] = [user("kept"), user("removed")];
  await put(saver, { messages: [kept, removed] });
  await put(saver, { messages: [kept] });
  saver.prune("t1");
  assert.equal(rowCount(db), 1);
  await put(saver, { messages: [kept, removed] });
  saver.prune("t1");
  assert.deepEqual(contents(saver.messages("t1")), ["kept", "removed"]);
  assert.deepEqual(contents(new SqliteSaver(db).messages("t1")), ["kept", "removed"]);
});

Deno.test("RemoveMessage in a graph removes the message from the database at the turn's end", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  await runTurns(saver, "t1", 2);
  const [first] = saver.messages("t1");
  await chatGraph(saver).updateState(
    configOf("t1"),
    { messages: [new RemoveMessage({ id: first!.id! })] },
    "tool_node",
  );
  saver.prune("t1");
  assert.equal(saver.messages("t1").length, 7);
  assert.equal(db.prepare("SELECT count(*) AS n FROM saver_rows WHERE id = ?").get(first!.id!)?.n, 0);
  assert.equal(new SqliteSaver(db).messages("t1").length, 7);
});

Deno.test("a chunk is read back as a message, from memory too", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  await put(saver, { messages: [new AIMessageChunk({ id: "a", content: "part" })] });
  for (const reader of [saver, new SqliteSaver(db)]) {
    assert.equal(reader.messages("t1")[0]!.constructor, AIMessage);
  }
});

Deno.test("messages at any depth of a value share the rows of the conversation", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  const [a, b] = [user("one"), answer("two")];
  const config = await put(saver, {
    messages: [a, b],
    __start__: { messages: [a] },
    deep: { list: [{ at: b }, "text"] },
  });
  await saver.putWrites(config, [["messages", [b]], ["messages", b]], "task");
  assert.equal(rowCount(db), 2);
  const tuple = await new SqliteSaver(db).getTuple(config);
  const { __start__, deep } = tuple!.checkpoint.channel_values as {
    __start__: { messages: BaseMessage[] };
    deep: { list: [{ at: BaseMessage }, string] };
  };
  assert.deepEqual(contents(__start__.messages), ["one"]);
  assert.equal(deep.list[0].at.content, "two");
  assert.deepEqual(
    tuple!.pendingWrites!.map(([, , value]) => ([value].flat() as BaseMessage[])[0]!.content),
    ["two", "two"],
  );
});

Deno.test("a large value is stored once however many checkpoints hold it, and goes with the last of them", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db, { checkpointsKept: 3 });
  const large = { table: "x".repeat(5000), when: new Set([1]) };
  for (let i = 0; i < 5; i++) await put(saver, { large, step: i });
  saver.prune("t1");
  assert.equal(rowCount(db), 1);
  assert.deepEqual((await saver.getTuple(configOf("t1")))!.checkpoint.channel_values, { large, step: 4 });
  for (let i = 0; i < 3; i++) await put(saver, { step: i });
  saver.prune("t1");
  assert.equal(rowCount(db), 0);
});

// L4
Deno.test("channel values of all kinds come back as they were", async () => {
  using db = openDatabase(":memory:");
  const values = {
    bytes: new Uint8Array(),
    megabytes: new Uint8Array(5_000_000).fill(9),
    big: 2n ** 63n,
    none: null,
    text: "路由 😀 \u0000 end",
    list: [undefined, NaN, new Map([["k", new Set([1])]])],
  };
  await put(new SqliteSaver(db), values);
  assert.deepEqual((await new SqliteSaver(db).getTuple(configOf("t1")))!.checkpoint.channel_values, values);
});

Deno.test("a checkpoint saved again under its id replaces the first, with the rows only that one had", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  const checkpoint = { ...emptyCheckpoint(), channel_versions: { messages: 1 } };
  await saver.put(configOf("t1"), { ...checkpoint, channel_values: { messages: [user("first")] } }, META, {
    messages: 1,
  });
  await saver.put(configOf("t1"), { ...checkpoint, channel_values: { messages: [user("second")] } }, META, {
    messages: 1,
  });
  assert.deepEqual(contents(saver.messages("t1")), ["second"]);
  assert.equal(rowCount(db), 1);
});

Deno.test("unchanged channels survive when the parent's checkpoint is gone", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  const gone = configOf("t1", uuid6(0));
  const checkpoint = { ...emptyCheckpoint(), channel_values: { messages: [user("kept")], n: 2 } };
  await saver.put(gone, checkpoint, META, { n: 2 });
  assert.deepEqual(contents(saver.messages("t1")), ["kept"]);
});

Deno.test("writes that come before their checkpoint are kept, also by prune", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  const early = { ...emptyCheckpoint(), id: uuid6(0) };
  await put(saver, { n: 1 });
  const next = { ...emptyCheckpoint(), id: uuid6(0) };
  await saver.putWrites(configOf("t1", next.id), [["messages", [answer("done")]]], "task");
  await saver.putWrites(configOf("t1", early.id), [["messages", [answer("late")]]], "task");
  saver.prune("t1");
  await saver.put(configOf("t1"), next, META, {});
  const [[, channel, value]] = (await saver.getTuple(configOf("t1")))!.pendingWrites as [
    [string, string, BaseMessage[]],
  ];
  assert.deepEqual([channel, ...contents(value)], ["messages", "done"]);
  assert.equal(rowCount(db), 1);
});

Deno.test("a task's ordinary write is kept once, an interrupt's is replaced, and neither leaves rows behind", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  const config = await put(saver, { n: 1 });
  await saver.putWrites(
    config,
    [["messages", [answer("first")]], ["__interrupt__", "x".repeat(600)]],
    "task",
  );
  await saver.putWrites(
    config,
    [["messages", [answer("second")]], ["__interrupt__", "y".repeat(600)]],
    "task",
  );
  const writes = (await saver.getTuple(config))!.pendingWrites!.map(([, channel, value]) =>
    channel === "messages" ? (value as BaseMessage[])[0]!.content : String(value)[0]
  );
  assert.deepEqual(writes.sort(), ["first", "y"]);
  assert.equal(rowCount(db), 2);
});

Deno.test("two forks of a checkpoint have their own messages", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db, { checkpointsKept: 10 });
  const [root, left, right] = [user("root"), answer("left"), answer("right")];
  const base = await put(saver, { messages: [root] }) as ReturnType<typeof configOf>;
  const one = await put(saver, { messages: [root, left] }, base);
  const two = await put(saver, { messages: [root, right] }, base);
  const read = async (config: typeof one) =>
    contents(
      (await new SqliteSaver(db).getTuple(config))!.checkpoint.channel_values.messages as BaseMessage[],
    );
  assert.deepEqual([await read(one), await read(two)], [["root", "left"], ["root", "right"]]);
  saver.prune("t1");
  assert.equal(rowCount(db), 3);
});

Deno.test("prune keeps as many checkpoints as it was told, in each namespace", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db, { checkpointsKept: 2 });
  for (const checkpoint_ns of ["", "child"]) {
    for (let n = 1; n <= 4; n++) {
      const versions = { n };
      const checkpoint = {
        ...emptyCheckpoint(),
        id: uuid6(0),
        channel_values: { n },
        channel_versions: versions,
      };
      await saver.put({ configurable: { thread_id: "t1", checkpoint_ns } }, checkpoint, META, versions);
    }
  }
  saver.prune("t1");
  const left: unknown[] = [];
  for await (const { config, checkpoint } of saver.list({ configurable: { thread_id: "t1" } })) {
    left.push([config.configurable!.checkpoint_ns, checkpoint.channel_values.n]);
  }
  assert.deepEqual(left, [["child", 4], ["child", 3], ["", 4], ["", 3]]);
});

Deno.test("prune leaves threads alone whose messages LangGraph rebuilds from old checkpoints", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  for (let i = 0; i < 3; i++) {
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(0) };
    await saver.put(configOf("t1"), checkpoint, { ...META, delta_writes_versioned: true } as typeof META, {});
  }
  saver.prune("t1");
  assert.equal(db.prepare("SELECT count(*) AS n FROM saver_checkpoints").get()?.n, 3);
});

// C1, C14: an approval that waits through a restart, with the calls of the answer before it.
Deno.test("an interrupted turn goes on after a restart and a prune", async () => {
  await withProject(async ({ projects, project }) => {
    const State = Annotation.Root({
      messages: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
    });
    const graphOf = (saver: SqliteSaver) =>
      new StateGraph(State).addNode("ask", () => {
        const decision = interrupt({ summary: "y".repeat(2000) }) as string;
        return { messages: [answer(`decided ${decision}`)] };
      }).addEdge(START, "ask").compile({ checkpointer: saver });
    const db = openProjectDatabase(project, projects);
    const saver = new SqliteSaver(db);
    await graphOf(saver).invoke({ messages: [user("delete it")] }, configOf("t1"));
    saver.prune("t1");
    db.close();
    using again = openProjectDatabase(project, projects);
    const reopened = new SqliteSaver(again);
    const graph = graphOf(reopened);
    const [task] = (await graph.getState(configOf("t1"))).tasks;
    assert.equal((task!.interrupts[0]!.value as { summary: string }).summary.length, 2000);
    await graph.invoke(new Command({ resume: "yes" }), configOf("t1"));
    reopened.prune("t1");
    assert.deepEqual(contents(reopened.messages("t1")), ["delete it", "decided yes"]);
    assert.equal(rowCount(again), 2);
  });
});

// Contract section 5: a crash loses at most the turn in progress, and never the database.
Deno.test("a process killed in the middle of a turn leaves a database that opens and goes on", async () => {
  await withProject(async ({ projects, project }) => {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", import.meta.resolve("./killed.ts"), project, projects],
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    // It prints a line at its fifth turn's tool call and waits there.
    while (!text.includes("in the tool\n")) {
      text += (await reader.read()).value ?? assert.fail("it ended by itself");
    }
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    using db = openProjectDatabase(project, projects);
    const saver = new SqliteSaver(db);
    assert.equal(db.pragma("integrity_check"), "ok");
    const messages = saver.messages("t1");
    assert.deepEqual(messages.slice(-2).map((message) => message.type), ["human", "ai"]);
    assert.equal(messages.length, 4 * 4 + 2);
    assert.equal((messages.at(-1) as AIMessage).tool_calls!.length, 1);
    await runTurns(saver, "t1", 1);
    assert.equal(db.prepare("SELECT count(*) AS n FROM saver_checkpoints").get()?.n, 1);
    assert.equal(db.prepare("SELECT count(*) AS n FROM saver_writes").get()?.n, 0);
  });
});

Deno.test("a failed transaction leaves no memory of rows that were never kept", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  const message = user("hello");
  await assert.rejects(async () => {
    await db.transaction(() => {
      void put(saver, { messages: [message] }).catch(() => {});
      throw new Error("disk full");
    });
  });
  assert.deepEqual(saver.messages("t1"), []);
  await put(saver, { messages: [user("other"), message] });
  assert.deepEqual(contents(new SqliteSaver(db).messages("t1")), ["other", "hello"]);
});

Deno.test("a cache that is too small changes nothing but the speed", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db, { cachedCharacters: 1000 });
  for (let round = 0; round < 3; round++) {
    for (const thread of ["t1", "t2", "t3"]) await runTurns(saver, thread, 1);
  }
  for (const thread of ["t1", "t2", "t3"]) {
    assert.equal(saver.messages(thread).length, 12);
    assert.equal(new Set(saver.messages(thread).map((message) => message.id)).size, 12);
  }
  assert.equal(rowCount(db), 36);
});

Deno.test("the same message in two threads is stored in both", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  const message = user("shared", newId());
  await put(saver, { messages: [message] }, configOf("t1"));
  await put(saver, { messages: [message] }, configOf("t2"));
  await saver.deleteThread("t1");
  assert.deepEqual(contents(saver.messages("t2")), ["shared"]);
  assert.deepEqual(saver.messages("t1"), []);
  assert.equal(await saver.getTuple(configOf("t1")), undefined);
  assert.equal(rowCount(db), 1);
});

// C3: one connection a project; everything on it is synchronous, so nothing can find it locked.
Deno.test("two chats, lists and renames at the same time do not disturb each other", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  await Promise.all([
    runTurns(saver, "t1", 10),
    runTurns(saver, "t2", 10),
    (async () => {
      for (let i = 0; i < 50; i++) {
        for await (const _ of saver.list({}, { limit: 3 })) await Promise.resolve();
        saver.messages("t1");
      }
    })(),
  ]);
  assert.equal(saver.messages("t1").length, 40);
  assert.equal(saver.messages("t2").length, 40);
});
