import assert from "node:assert/strict";
import { RemoveMessage } from "@langchain/core/messages";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { toChatMessage } from "../../../src/agent/messages.ts";
import { sendableUnits } from "../../../src/agent/sendable.ts";
import type { ChatMessage } from "../../../src/domain/session.ts";
import { type Database, openProjectDatabase } from "../../../src/storage/database.ts";
import { ChatSessionsRepository } from "../../../src/storage/sessions.ts";
import { StepSaver } from "../../../src/storage/step_saver.ts";
import { chatGraph, configOf, type Folders, runTurns, withProject } from "../helpers.ts";
import { milliseconds, ofOurs, ofPython, putDatabase, type PythonDatabase, saidBy } from "./testdata.ts";

interface Opened extends Folders {
  db: Database;
  saver: StepSaver;
  history(threadId: string): ChatMessage[];
}

/** Opens the project's database, as a start of the server does, and closes it afterwards. */
async function opened(folders: Folders, work: (opened: Opened) => unknown): Promise<void> {
  using db = openProjectDatabase(folders.project, folders.projects);
  const saver = new StepSaver(db);
  const history = (threadId: string) => saver.messages(threadId).map(toChatMessage);
  await work({ ...folders, db, saver, history });
}

/** Runs `work` with one of Python's databases in a project. */
function withPython(name: PythonDatabase, work: (folders: Folders) => unknown): Promise<void> {
  return withProject((folders) => {
    putDatabase(name, folders.file);
    return work(folders);
  });
}

/** Changes the file behind the server's back, as Python does while our server is not there. */
function asPython(file: string, work: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(file);
  work(db);
  db.close();
}

const pythonRows = (db: { prepare(sql: string): { all(): unknown[] } }) => [
  db.prepare("SELECT * FROM checkpoints ORDER BY thread_id, checkpoint_id").all(),
  db.prepare("SELECT * FROM writes ORDER BY thread_id, checkpoint_id, task_id, idx").all(),
];

for (const name of ["copilot", "long"] as const) {
  Deno.test(`every history of Python's database "${name}" is what Python's own route said of it`, async () => {
    await withPython(name, (folders) =>
      opened(folders, ({ history }) => {
        for (const [threadId, messages] of Object.entries(saidBy(name).histories)) {
          assert.deepEqual(history(threadId).map(ofOurs), messages.map(ofPython), threadId);
        }
      }));
  });
}

Deno.test("reading Python's conversations changes none of its rows", async () => {
  await withPython("copilot", (folders) =>
    opened(folders, ({ db, history }) => {
      const before = pythonRows(db);
      const threads = Object.keys(saidBy("copilot").histories);
      assert.ok(threads.length > 5 && threads.every((threadId) => history(threadId).length > 1));
      assert.deepEqual(pythonRows(db), before);
    }));
});

Deno.test("the sessions of Python's database list with owner, title, pin and figures as Python listed them", async () => {
  await withPython("copilot", (folders) =>
    opened(folders, ({ db }) => {
      const { sessions } = saidBy("copilot");
      const [project] = Object.values(sessions).flat().map((session) => session.project_id);
      const repository = new ChatSessionsRepository(db, project!);
      assert.equal(Object.keys(sessions).length, 2);
      for (const [user, expected] of Object.entries(sessions)) {
        const times = ["created_at", "updated_at", "last_message_at"];
        assert.deepEqual(
          repository.list(user, { limit: 100, offset: 0 }).sessions,
          expected.map((session) =>
            Object.fromEntries(
              Object.entries(session).map(([field, value]) => [
                field,
                times.includes(field) && value ? milliseconds(value as string) : value,
              ]),
            )
          ),
        );
      }
    }));
});

Deno.test("every kind of message and content is read: parts, chunks, artifacts, exact numbers, other people's ids", async () => {
  await withPython("kinds", (folders) =>
    opened(folders, ({ saver, history }) => {
      const said = saidBy("kinds").histories.kinds!;
      const read = history("kinds");
      // Python's removal removes nothing there and is no message.
      assert.equal(read.length, said.length - 1);
      assert.equal(new Set(read.map((message) => message.id)).size, read.length);
      const roles = read.map((message) => message.role);
      assert.deepEqual(roles.slice(0, 9), said.slice(0, 9).map((message) => message.role));
      // What Python calls unknown are other people's words.
      assert.deepEqual(roles.slice(9), ["user", "user", "user", "assistant", "user", "assistant"]);
      assert.deepEqual(read.map((message) => message.content), [
        "You help with networks.",
        "What is this? 🖼️",
        "A pixel. It is grey.",
        "And now?",
        "Two calls.",
        "part one, part two",
        "It failed.",
        "",
        "fine",
        "old style",
        "as somebody",
        "The same id again.",
        "Yes.",
        "",
        "Last words.",
      ]);
      const messages = saver.messages("kinds");
      assert.deepEqual((messages[1]!.content as { type: string }[]).map((part) => part.type), [
        "text",
        "image_url",
        "text",
      ]);
      assert.equal(messages[2]!.additional_kwargs.reasoning_content, "One dot.");
      assert.deepEqual((messages[5] as unknown as { artifact: unknown }).artifact, {
        when: "2026-02-03T04:05:06+00:00",
        id: "00000000000000000000000000000007",
        ports: [1, 2],
        path: ["a", "b"],
        cost: "1.10",
        raw: new Uint8Array([0, 255]),
      });
      const [three, four] = read[7]!.tool_calls!;
      assert.equal(
        three!.function.arguments,
        '{"big":9223372036854775807,"small":-9223372036854775808,"exact":9007199254740992,' +
          '"text":"中文 🛰️ \u2028","__proto__":{"x":1},"":"empty"}',
      );
      assert.deepEqual(four, { id: "c4", type: "function", function: { name: "four", arguments: '{"a": ' } });
      assert.equal(read[6]!.metadata.status, "error");
      // A message without a time has that of the one before it; the first has that of the next.
      assert.deepEqual(read.slice(0, 4).map((message) => message.created_at), [
        "2026-02-03T04:01:00.123Z",
        "2026-02-03T04:01:00.123Z",
        "2026-02-03T04:02:00.123Z",
        "2026-02-03T04:02:00.123Z",
      ]);
    }));
});

Deno.test("a step that was cut before its checkpoint keeps what its tools answered, and a question what was asked", async () => {
  await withPython("kinds", (folders) =>
    opened(folders, ({ history }) => {
      assert.deepEqual(
        history("cut").map(({ role, content, tool_call_id }) => [role, content, tool_call_id]),
        [
          ["user", "Ping both.", undefined],
          ["assistant", "", undefined],
          ["tool", "PC1 answers", "p1"],
          ["tool", "PC2 is silent", "p2"],
        ],
      );
      assert.deepEqual(history("unheard").map(({ role, content }) => [role, content]), [
        ["user", "Is anybody there?"],
      ]);
      assert.deepEqual(history("nothing"), []);
    }));
});

Deno.test("ids and times stay the same over restarts, and a second reading stores nothing", async () => {
  await withPython("copilot", async (folders) => {
    const threads = Object.keys(saidBy("copilot").histories);
    let first: ChatMessage[][] = [];
    await opened(folders, ({ history }) => void (first = threads.map(history)));
    const bytes = Deno.readFileSync(folders.file);
    await opened(folders, ({ history }) => assert.deepEqual(threads.map(history), first));
    assert.deepEqual(Deno.readFileSync(folders.file), bytes);
  });
});

Deno.test("a conversation of Python's goes on, and is whole after a restart", async () => {
  await withPython("long", async (folders) => {
    await opened(folders, async ({ saver, history }) => {
      const before = history("long");
      await runTurns(saver, "long", 2);
      assert.equal(history("long").length, 320 + 8);
      assert.deepEqual(history("long").slice(0, 320), before);
    });
    await opened(folders, ({ history }) => {
      assert.deepEqual(history("long").map((message) => message.role).slice(-4), [
        "user",
        "assistant",
        "tool",
        "assistant",
      ]);
    });
  });
});

Deno.test("calls that Python left without an answer, and ids that it used twice, become what a model accepts", async () => {
  await withPython("copilot", (folders) =>
    opened(folders, ({ saver }) => {
      for (const threadId of Object.keys(saidBy("copilot").histories)) {
        const sent = sendableUnits(saver.messages(threadId)).flatMap(({ messages }) => messages);
        const called = sent.flatMap((m) => (m as { tool_calls?: { id?: string }[] }).tool_calls ?? []);
        const answered = sent.filter((m) => m.getType() === "tool")
          .map((m) => (m as unknown as { tool_call_id: string }).tool_call_id);
        assert.deepEqual(answered, called.map((call) => call.id), threadId);
        assert.equal(new Set(answered).size, answered.length, threadId);
      }
    }));
});

/** Takes a thread's newest checkpoints away, with their writes; returns what puts them back, the first `n` or all. */
function withoutNewest(file: string, threadId: string, count: number): (n?: number) => void {
  const taken: { table: string; row: Record<string, SQLInputValue> }[] = [];
  let ids: string[] = [];
  asPython(file, (db) => {
    ids = db.prepare(
      "SELECT checkpoint_id AS id FROM checkpoints WHERE thread_id = ? ORDER BY id DESC LIMIT ?",
    )
      .all(threadId, count).map(({ id }) => String(id)).reverse();
    for (const table of ["checkpoints", "writes"]) {
      const newest = "WHERE thread_id = ? AND checkpoint_id >= ?";
      const rows = db.prepare(`SELECT * FROM ${table} ${newest}`).all(threadId, ids[0]!);
      taken.push(...rows.map((row) => ({ table, row })));
      db.prepare(`DELETE FROM ${table} ${newest}`).run(threadId, ids[0]!);
    }
  });
  return (n = count) =>
    asPython(file, (db) => {
      for (const { table, row } of taken) {
        if (String(row.checkpoint_id) > ids[n - 1]!) continue;
        const names = Object.keys(row);
        db.prepare(`INSERT OR REPLACE INTO ${table} (${names}) VALUES (${names.map(() => "?")})`)
          .run(...Object.values(row));
      }
    });
}

/** The overflow pages of the newest checkpoint's blob, by their numbers: each names the next one in its first bytes. */
function newestCheckpointPages(file: string): { pages: number[]; size: number } {
  const bytes = Deno.readFileSync(file);
  const view = new DataView(bytes.buffer);
  const size = view.getUint16(16);
  let blob = new Uint8Array();
  asPython(file, (db) => {
    blob = db.prepare("SELECT checkpoint FROM checkpoints ORDER BY checkpoint_id DESC LIMIT 1")
      .get()!.checkpoint as Uint8Array<ArrayBuffer>;
  });
  // The last page holds the blob's end, wherever it lies: the pages before it lead there.
  const end = blob.slice(-200).join();
  const count = bytes.length / size;
  const last = Array.from({ length: count }, (_, i) => i + 1)
    .find((page) => bytes.subarray((page - 1) * size, page * size).join().includes(end))!;
  const pages = [last];
  for (let page = last; pages.length < 5;) {
    page = Array.from({ length: count }, (_, i) => i + 1).find((p) =>
      view.getUint32((p - 1) * size) === page
    )!;
    pages.push(page);
  }
  return { pages, size };
}

const texts = (history: ChatMessage[]) => history.map((message) => message.content);

Deno.test("what Python adds to a conversation after us is put after what is ours, time and again", async () => {
  await withPython("long", async (folders) => {
    // A turn of this session is three checkpoints and two messages.
    const goOn = withoutNewest(folders.file, "long", 6);
    const said = saidBy("long").histories.long!.map((message) => String(message.content));
    const ours = ["Is R1 up? (0)", "", "interface up", "It is up."];
    await opened(folders, async ({ saver, history }) => {
      assert.deepEqual(texts(history("long")), said.slice(0, 316));
      await runTurns(saver, "long", 1);
    });
    goOn(3);
    await opened(folders, async ({ saver, history }) => {
      assert.deepEqual(texts(history("long")), [...said.slice(0, 316), ...ours, ...said.slice(316, 318)]);
      await runTurns(saver, "long", 1);
    });
    goOn();
    await opened(folders, ({ history }) => {
      const all = [...said.slice(0, 316), ...ours, ...said.slice(316, 318), ...ours, ...said.slice(318)];
      assert.deepEqual(texts(history("long")), all);
      assert.equal(new Set(history("long").map((message) => message.id)).size, all.length);
    });
  });
});

Deno.test("however Python was cut in a turn, what it saves later is there once", async () => {
  const said = saidBy("copilot").histories.tools!.map((message) => String(message.content));
  for (let cut = 1; cut < 12; cut++) {
    await withPython("copilot", async (folders) => {
      const goOn = withoutNewest(folders.file, "tools", cut);
      await opened(folders, ({ history }) => {
        const before = texts(history("tools"));
        assert.ok(before.length > 0 && before.length <= said.length, `${cut}`);
        assert.deepEqual(before, said.slice(0, before.length));
      });
      goOn();
      await opened(folders, ({ history }) => assert.deepEqual(texts(history("tools")), said, `${cut}`));
    });
  }
});

Deno.test("a message that was removed here does not come back when Python goes on", async () => {
  await withPython("long", async (folders) => {
    const goOn = withoutNewest(folders.file, "long", 3);
    const said = saidBy("long").histories.long!.map((message) => String(message.content));
    await opened(folders, async ({ saver, history }) => {
      const messages = [new RemoveMessage({ id: history("long")[10]!.id })];
      await chatGraph(saver).updateState(configOf("long"), { messages }, "title_generator");
      assert.equal(history("long").length, 317);
    });
    goOn();
    await opened(folders, ({ history }) => assert.deepEqual(texts(history("long")), said.toSpliced(10, 1)));
  });
});

Deno.test("a question of ours that waits for a decision is dropped when Python has gone on", async () => {
  await withPython("long", async (folders) => {
    const goOn = withoutNewest(folders.file, "long", 3);
    const approvals = (db: Database) => db.prepare("SELECT id FROM chat_approvals").arrays();
    await opened(folders, async ({ db, saver }) => {
      await runTurns(saver, "long", 1);
      db.exec(`INSERT INTO chat_approvals VALUES ('a', 'long', 0, '{}', '{}', '2027-01-01', NULL);
        INSERT INTO chat_turns (thread_id, turn_id, started_at) VALUES ('long', 't', '2027-01-01')`);
    });
    await opened(folders, ({ db, history }) => {
      history("long");
      assert.deepEqual(approvals(db), [["a"]]);
    });
    goOn();
    await opened(folders, ({ db, history }) => {
      assert.equal(history("long").length, 318 + 4 + 2);
      assert.deepEqual(approvals(db), []);
      assert.deepEqual(db.prepare("SELECT turn_id FROM chat_turns").arrays(), []);
    });
  });
});

Deno.test("a checkpoint that cannot be read costs its own messages, and the conversation says so", async () => {
  await withPython("copilot", async (folders) => {
    asPython(folders.file, (db) =>
      db.exec(`UPDATE checkpoints SET checkpoint = x'c1ff' WHERE checkpoint_id =
        (SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = 'plain')`));
    await opened(folders, ({ history }) => {
      const read = history("plain");
      const said = saidBy("copilot").histories.plain!.map(ofPython);
      assert.deepEqual(read.slice(0, -1).map(ofOurs), said);
      assert.match(read.at(-1)!.content, /cannot be read.* still in the project's chat database/);
      assert.equal(read.at(-1)!.role, "assistant");
    });
  });
});

Deno.test("a session that cannot be read at all says so, lists, goes on, and hides no other one", async () => {
  await withPython("copilot", async (folders) => {
    asPython(folders.file, (db) =>
      db.exec(`
        UPDATE checkpoints SET checkpoint = x'80' WHERE thread_id = 'plain';
        UPDATE checkpoints SET type = 'pickle' WHERE thread_id = 'renamed';
        UPDATE checkpoints SET checkpoint = NULL WHERE thread_id = 'failed';
        UPDATE chat_sessions SET title = x'ff', metadata = x'00' WHERE thread_id = 'stopped'`));
    const { sessions, histories } = saidBy("copilot");
    const broken = ["plain", "renamed", "failed"];
    await opened(folders, async ({ db, saver, history }) => {
      for (const [user, list] of Object.entries(sessions)) {
        const repository = new ChatSessionsRepository(db, list[0]!.project_id);
        assert.equal(repository.list(user, { limit: 100, offset: 0 }).total, list.length);
      }
      for (const [threadId, said] of Object.entries(histories)) {
        if (broken.includes(threadId)) {
          assert.equal(history(threadId).length, 1, threadId);
          assert.match(history(threadId)[0]!.content, /cannot be read/);
        } else assert.deepEqual(history(threadId).map(ofOurs), said.map(ofPython), threadId);
      }
      await runTurns(saver, "plain", 1);
      assert.equal(history("plain").length, 5);
    });
    await opened(folders, ({ history }) => assert.equal(history("plain").length, 5));
  });
});

Deno.test("damage in the pages of a checkpoint costs what only that one holds; every other session opens", async () => {
  await withPython("long", async (folders) => {
    const bytes = Deno.readFileSync(folders.file);
    const { pages, size } = newestCheckpointPages(folders.file);
    for (const page of pages) bytes.fill(0xff, (page - 1) * size, page * size);
    Deno.writeFileSync(folders.file, bytes);
    await opened(folders, ({ history }) => {
      const read = texts(history("long"));
      const said = saidBy("long").histories.long!.map((message) => String(message.content));
      assert.ok(read.length > 300, `${read.length}`);
      assert.deepEqual(read.slice(0, -1), said.slice(0, read.length - 1));
      assert.match(read.at(-1)!, /cannot be read/);
    });
  });
});

Deno.test("deleting a session leaves none of its words in the file: not in ours, not in Python's rows", async () => {
  await withPython("copilot", async (folders) => {
    const words = new TextEncoder().encode("Set up both PCs.");
    const includes = (bytes: Uint8Array) => {
      for (let at = bytes.indexOf(words[0]!); at >= 0; at = bytes.indexOf(words[0]!, at + 1)) {
        if (words.every((byte, i) => bytes[at + i] === byte)) return true;
      }
      return false;
    };
    assert.ok(includes(Deno.readFileSync(folders.file)));
    const [user, list] = Object.entries(saidBy("copilot").sessions).find(([, all]) => all.length > 1)!;
    await opened(folders, ({ db, saver, history }) => {
      assert.equal(history("tools").length, 14);
      new ChatSessionsRepository(db, list[0]!.project_id).delete(user, "tools");
      saver.forget("tools");
      assert.deepEqual(history("tools"), []);
    });
    assert.ok(!includes(Deno.readFileSync(folders.file)));
    await opened(folders, ({ db, history }) => {
      assert.deepEqual(history("tools"), []);
      assert.equal(db.prepare("SELECT 1 FROM python_threads WHERE thread_id = 'tools'").get(), undefined);
    });
  });
});
