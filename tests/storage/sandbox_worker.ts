/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
// Runs in a Worker with narrowed permissions for `database_test.ts` and answers what it could do there.
import { SqliteSaver } from "../../src/storage/checkpoints.ts";
import { openProjectDatabase } from "../../src/storage/database.ts";
import { ChatSessionsRepository } from "../../src/storage/sessions.ts";
import { runTurns } from "./helpers.ts";

self.onmessage = async ({ data }: MessageEvent<{ projects: string; project: string }>) => {
  const { projects, project } = data;
  const db = openProjectDatabase(project, projects);
  const sessions = new ChatSessionsRepository(db, "p1");
  const saver = new SqliteSaver(db);
  sessions.create({ thread_id: "t1", user_id: "u1", project_id: "p1" });
  await runTurns(saver, "t1", 2);
  const messages = saver.messages("t1").length;
  const attach = outcome(() => db.exec("ATTACH ':memory:' AS other"));
  const vacuum = outcome(() => db.exec("VACUUM"));
  const deleted = sessions.delete("u1", "t1");
  db.close();
  const outside = outcome(() => openProjectDatabase("/etc", projects));
  // What a server meets whose user may only read the project.
  Deno.permissions.revokeSync({ name: "write", path: projects });
  const readOnly = outcome(() => openProjectDatabase(project, projects));
  self.postMessage({ messages, deleted, outside, attach, vacuum, readOnly });
};

function outcome(work: () => unknown): string {
  try {
    work();
    return "done";
  } catch (error) {
    return (error as { code?: string }).code?.replace(/^ERR_.*/, "refused") ?? "refused";
  }
}
