import assert from "node:assert/strict";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { checkDatabase } from "../../src/storage/check.ts";
import { openProjectDatabase } from "../../src/storage/database.ts";
import { refusal, withProject } from "./helpers.ts";

const FOREIGN = [
  [
    "a table of the same name",
    "CREATE TABLE chat_sessions (name TEXT); INSERT INTO chat_sessions VALUES ('x')",
  ],
  [
    "another table where one of ours would be made",
    "CREATE TABLE saver_rows (a); INSERT INTO saver_rows VALUES (1)",
  ],
  [
    "what half a migration leaves",
    "CREATE TABLE t (a); CREATE TABLE chat_turns (thread_id); PRAGMA user_version = 1",
  ],
  ["our number and nothing else", "CREATE TABLE t (a); PRAGMA user_version = 3"],
];

Deno.test("a database of another program is refused with a sentence, and not a byte of it changes", async () => {
  for (const [what, sql] of FOREIGN) {
    for (const mode of ["DELETE", "WAL"]) {
      await withProject(({ project, projects, file }) => {
        Deno.mkdirSync(dirname(file));
        const other = new DatabaseSync(file);
        other.exec(`PRAGMA journal_mode = ${mode}; ${sql}`);
        other.close();
        const bytes = Deno.readFileSync(file);
        for (let i = 0; i < 2; i++) {
          assert.throws(
            () => openProjectDatabase(project, projects),
            refusal(
              "internal",
              /copilot_checkpoints\.db of this project is not one of this program.* left untouched/,
            ),
            what,
          );
        }
        const { problems, notOurs } = checkDatabase(file);
        assert.deepEqual([problems.length, notOurs], [1, true], what);
        assert.match(problems[0]!, /is not one of this program/);
        assert.deepEqual(Deno.readFileSync(file), bytes, what);
      });
    }
  }
});

Deno.test("tables beside ours are nobody's concern", () =>
  withProject(({ project, projects, file }) => {
    Deno.mkdirSync(dirname(file));
    const other = new DatabaseSync(file);
    other.exec("CREATE TABLE notes (a); INSERT INTO notes VALUES (1)");
    other.close();
    openProjectDatabase(project, projects).close();
    using again = openProjectDatabase(project, projects);
    assert.deepEqual(again.prepare("SELECT a FROM notes").arrays(), [[1]]);
  }));
