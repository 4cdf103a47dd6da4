import assert from "node:assert/strict";
import { type CheckpointTuple, emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { Annotation, Command, interrupt, START, StateGraph } from "@langchain/langgraph";
import type { BaseMessage } from "@langchain/core/messages";
import { SqliteSaver } from "../../src/storage/checkpoints.ts";
import { type Database, openDatabase } from "../../src/storage/database.ts";
import { StepSaver } from "../../src/storage/step_saver.ts";
import { answer, chatGraph, configOf, user } from "./helpers.ts";

/** Saves a checkpoint as LangGraph does: with the channels that have changed since its parent. */
async function put(
  saver: SqliteSaver,
  source: "input" | "loop",
  values: Record<string, unknown>,
  changed: string[],
  parent = configOf("t1"),
) {
  const checkpoint = { ...emptyCheckpoint(), id: uuid6(0), channel_values: values };
  const versions = Object.fromEntries(changed.map((name) => [name, 1]));
  return await saver.put(parent, checkpoint, { source, step: 0, parents: {} }, versions) as ReturnType<
    typeof configOf
  >;
}

async function all(saver: SqliteSaver): Promise<CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = [];
  for await (const tuple of saver.list(configOf("t1"))) tuples.push(tuple);
  return tuples;
}

const values = async (saver: SqliteSaver, config = configOf("t1")) =>
  (await saver.getTuple(config))?.checkpoint.channel_values;
const saved = (db: Database) => db.prepare("SELECT count(*) AS n FROM saver_checkpoints").get()!.n;

Deno.test("a turn's steps are saved as ever but its input, and each has the one before as its parent", async () => {
  const seen: Record<string, unknown[]> = {};
  for (const Saver of [SqliteSaver, StepSaver]) {
    using db = openDatabase(":memory:");
    const saver = new Saver(db);
    const graph = chatGraph(saver);
    for (let i = 0; i < 2; i++) {
      await graph.invoke({ messages: [user(`${i}`, `user-${i}`)] }, configOf("t1"));
    }
    const tuples = (await all(new SqliteSaver(db))).filter(({ metadata }) => metadata!.source !== "input");
    seen[Saver.name] = tuples.map(({ checkpoint, metadata }) => {
      const { messages, ...others } = checkpoint.channel_values;
      const contents = (messages as BaseMessage[]).map(({ content }) => content);
      return { contents, others, step: metadata!.step, versions: checkpoint.channel_versions };
    });
    if (Saver === SqliteSaver) continue;
    assert.equal(tuples.length, saved(db));
    const parents = tuples.map(({ parentConfig }) => parentConfig?.configurable?.checkpoint_id);
    assert.deepEqual(parents, [...tuples.slice(1).map(({ checkpoint }) => checkpoint.id), undefined]);
  }
  assert.equal(seen.StepSaver!.length, 10);
  assert.deepEqual(seen.StepSaver, seen.SqliteSaver);
});

Deno.test("the step after an input has what the input has changed, what it has left, and its own", async () => {
  using db = openDatabase(":memory:");
  const saver = new StepSaver(db);
  const first = await put(saver, "loop", { left: 1, changed: 1, gone: 1, own: 1 }, [
    ...["left", "changed", "gone", "own"],
  ]);
  const input = await put(saver, "input", { left: 1, changed: 2, own: 1, __start__: 5 }, [
    ...["changed", "__start__"],
  ], first);
  assert.equal(saved(db), 1);
  const step = await put(saver, "loop", { left: 1, changed: 2, own: 3 }, ["own", "__start__"], input);
  assert.equal(saved(db), 2);
  assert.deepEqual(await values(new SqliteSaver(db), step), { left: 1, changed: 2, own: 3 });
});

Deno.test("whoever looks for checkpoints before the first step finds the input", async () => {
  const looks: Record<string, (saver: StepSaver, input: ReturnType<typeof configOf>) => unknown> = {
    getTuple: (saver) => saver.getTuple(configOf("t1")),
    list: all,
    putWrites: (saver, input) => saver.putWrites(input, [["__error__", "no"]], "task"),
    "another put": (saver) => put(saver, "loop", {}, [], configOf("t1")),
  };
  for (const [what, look] of Object.entries(looks)) {
    using db = openDatabase(":memory:");
    const saver = new StepSaver(db);
    const input = await put(saver, "input", { __start__: "hello" }, ["__start__"]);
    assert.equal(saved(db), 0, what);
    await look(saver, input);
    assert.deepEqual(await values(new SqliteSaver(db), input), { __start__: "hello" }, what);
    const step = await put(saver, "loop", { said: "hello" }, ["__start__", "said"], input);
    assert.deepEqual(await values(new SqliteSaver(db), step), { said: "hello" }, what);
  }
});

Deno.test("an input that changes messages is written at once, so that readers of messages see it", async () => {
  using db = openDatabase(":memory:");
  const saver = new StepSaver(db);
  await put(saver, "input", { messages: [user("hello")] }, ["messages"]);
  assert.deepEqual([saver.messages("t1").length, saver.countMessages("t1"), saved(db)], [1, 1, 1]);
});

Deno.test("an input without a step leaves the conversation as it was, at its end and after a deletion", async () => {
  using db = openDatabase(":memory:");
  const saver = new StepSaver(db);
  const first = await put(saver, "loop", { messages: [user("before")] }, ["messages"]);
  const begin = () => put(saver, "input", { __start__: "hello" }, ["__start__"], first);
  await begin();
  assert.deepEqual(saver.messages("t1").map(({ content }) => content), ["before"]);
  saver.prune("t1");
  assert.deepEqual((await all(saver)).map(({ checkpoint }) => checkpoint.id), [
    first.configurable.checkpoint_id,
  ]);
  await begin();
  await saver.deleteThread("t1");
  assert.deepEqual(await all(saver), []);
});

Deno.test("a first step that cannot be saved leaves the conversation as it was", async () => {
  using db = openDatabase(":memory:");
  const saver = new StepSaver(db);
  const graph = chatGraph(saver);
  await graph.invoke({ messages: [user("first")] }, configOf("t1"));
  db.exec("CREATE TRIGGER full BEFORE INSERT ON saver_checkpoints BEGIN SELECT RAISE(FAIL, 'full'); END");
  await assert.rejects(graph.invoke({ messages: [user("lost")] }, configOf("t1")), /full/);
  db.exec("DROP TRIGGER full");
  assert.equal(saver.countMessages("t1"), 4);
  await graph.invoke({ messages: [user("second")] }, configOf("t1"));
  const said = new SqliteSaver(db).messages("t1").filter(({ type }) => type === "human");
  assert.deepEqual(said.map(({ content }) => content), ["first", "second"]);
});

const State = Annotation.Root({
  messages: Annotation<BaseMessage[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

Deno.test("the user's message is on the disk before the first node does anything", async () => {
  using db = openDatabase(":memory:");
  let found: unknown[] = [];
  const graph = new StateGraph(State)
    .addNode("ask", async () => {
      await Promise.resolve();
      found = new SqliteSaver(db).messages("t1").map(({ content }) => content);
      return { messages: [answer("yes")] };
    })
    .addEdge(START, "ask").compile({ checkpointer: new StepSaver(db) });
  for (const question of ["one", "two"]) {
    await graph.invoke({ messages: [user(question)] }, { ...configOf("t1"), durability: "async" });
    assert.equal(found.at(-1), question);
  }
});

Deno.test("a turn that waits is answered after a restart, or another message comes instead", async () => {
  for (const resumed of [true, false]) {
    using db = openDatabase(":memory:");
    const graph = () =>
      new StateGraph(State)
        .addNode("tool", ({ messages }) => ({
          messages: [answer(messages.length > 1 ? "not asked" : interrupt("May I?"))],
        }))
        .addEdge(START, "tool").compile({ checkpointer: new StepSaver(db) });
    await graph().invoke({ messages: [user("go")] }, { ...configOf("t1"), durability: "async" });
    new StepSaver(db).prune("t1");
    const next = resumed ? new Command({ resume: "yes" }) : { messages: [user("leave it")] };
    await graph().invoke(next as typeof State.Update, { ...configOf("t1"), durability: "async" });
    const said = new SqliteSaver(db).messages("t1").map(({ content }) => content);
    assert.deepEqual(said, resumed ? ["go", "yes"] : ["go", "leave it", "not asked"]);
  }
});
