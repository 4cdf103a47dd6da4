import assert from "node:assert/strict";
import type { Approval } from "../../src/domain/approval.ts";
import { ApprovalsRepository } from "../../src/storage/approvals.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { ChatSessionsRepository } from "../../src/storage/sessions.ts";

const approval = (id: string): Approval => ({
  id,
  tool_call_id: `call_${id}`,
  tool_name: "stop_gns3_node",
  arguments: { node_ids: ["PC1"] },
  risk: "change",
  summary: "Changes the lab: stop_gns3_node",
});
const until = new Date("2026-01-02T00:00:00.000Z");

Deno.test("ApprovalsRepository keeps a batch in its order, with its decisions", () => {
  using db = openDatabase(":memory:");
  const approvals = new ApprovalsRepository(db);
  approvals.ask(
    "t",
    [approval("z"), approval("a")],
    { mode: "lab_automation_assistant", temperature: 0 },
    until,
  );
  approvals.decide("a", { decision: "edit", arguments: { node_ids: [] } });
  assert.deepEqual(approvals.batch("t"), [
    {
      approval: approval("z"),
      options: { mode: "lab_automation_assistant", temperature: 0 },
      expiresAt: until,
      decision: null,
    },
    {
      approval: approval("a"),
      options: { mode: "lab_automation_assistant", temperature: 0 },
      expiresAt: until,
      decision: { decision: "edit", arguments: { node_ids: [] } },
    },
  ]);
  assert.deepEqual(approvals.batch("other"), []);
});

Deno.test("ApprovalsRepository forgets a batch when another is asked, and when it is cleared", () => {
  using db = openDatabase(":memory:");
  const approvals = new ApprovalsRepository(db);
  const options = { mode: "lab_automation_assistant" } as const;
  approvals.ask("t", [approval("a"), approval("b")], options, until);
  approvals.ask("t", [approval("c")], options, until);
  assert.deepEqual(approvals.batch("t").map((one) => one.approval.id), ["c"]);
  approvals.clear("t");
  assert.deepEqual(approvals.batch("t"), []);
});

Deno.test("deleting a session deletes what was asked in it", () => {
  using db = openDatabase(":memory:");
  const sessions = new ChatSessionsRepository(db, "p");
  const approvals = new ApprovalsRepository(db);
  sessions.create({ thread_id: "t", user_id: "u", project_id: "p" });
  approvals.ask("t", [approval("a")], { mode: "lab_automation_assistant" }, until);
  sessions.delete("u", "t");
  assert.deepEqual(approvals.batch("t"), []);
});
