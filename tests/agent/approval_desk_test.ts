import assert from "node:assert/strict";
import { ApprovalDesk } from "../../src/agent/approval_desk.ts";
import type { Approval } from "../../src/domain/approval.ts";
import { ApprovalsRepository } from "../../src/storage/approvals.ts";
import { openDatabase } from "../../src/storage/database.ts";

const approval: Approval = {
  id: "a",
  tool_call_id: "call_a",
  tool_name: "stop_gns3_node",
  arguments: { node_ids: ["PC1"] },
  risk: "change",
  summary: "Changes the lab: stop_gns3_node",
};

Deno.test("ApprovalDesk lets a question expire: then nothing waits, and no decision is taken", () => {
  using db = openDatabase(":memory:");
  const repository = new ApprovalsRepository(db);
  const until = new Date("2026-01-02T00:00:00.000Z");
  repository.ask("t", [approval], { mode: "lab_automation_assistant" }, until);
  let now = new Date(until.getTime() - 1);
  const desk = new ApprovalDesk(repository, () => now);
  assert.deepEqual(desk.waiting("t"), [approval]);
  assert.deepEqual(desk.find("t", "a").approval, approval);
  now = until;
  assert.deepEqual(desk.waiting("t"), []);
  assert.throws(() => desk.find("t", "a"), { code: "not_found", message: /may have expired/ });
  // The calls still get their answers with the next message.
  assert.equal(desk.clear("t"), true);
});
