import assert from "node:assert/strict";
import type { AgentService } from "../../src/agent/agent_service.ts";
import { ProjectAgentManager } from "../../src/agent/project_agent_manager.ts";
import type { Project } from "../../src/domain/project.ts";
import { testLog } from "../fakes/log.ts";

const project = (project_id: string): Project => ({ project_id, name: project_id, status: "opened" });

function manager(maxProjects: number, failures = 0) {
  const made: string[] = [];
  const closed: string[] = [];
  const busy = new Set<string>();
  const create = async ({ project_id }: Project) => {
    made.push(project_id);
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (failures-- > 0) throw new Error("the disk is away");
    return {
      get busy() {
        return busy.has(project_id);
      },
      close: () => Promise.resolve(void closed.push(project_id)),
    } as unknown as AgentService;
  };
  return { made, closed, busy, agents: new ProjectAgentManager({ maxProjects, create, log: testLog().log }) };
}

Deno.test("ProjectAgentManager makes one agent for a project however many ask at once", async () => {
  const { agents, made } = manager(5);
  const got = await Promise.all(Array.from({ length: 20 }, () => agents.get(project("a"))));
  assert.deepEqual(made, ["a"]);
  assert.equal(new Set(got).size, 1);
});

Deno.test("ProjectAgentManager does not remember a failed attempt", async () => {
  const { agents, made } = manager(5, 1);
  await assert.rejects(agents.get(project("a")), /the disk is away/);
  await agents.get(project("a"));
  assert.deepEqual(made, ["a", "a"]);
});

Deno.test("ProjectAgentManager releases the longest unused idle agents beyond the limit, never a busy one", async () => {
  const { agents, closed, busy } = manager(2);
  busy.add("a");
  for (const id of ["a", "b", "c"]) await agents.get(project(id));
  await agents.release("nothing");
  assert.deepEqual(closed, ["b"]);
  assert.equal(agents.open.length, 2);
});

Deno.test("ProjectAgentManager closes an agent that is released while it is being made", async () => {
  const { agents, closed } = manager(5);
  const getting = agents.get(project("a"));
  await agents.release("a");
  await getting;
  assert.deepEqual(closed, ["a"]);
  assert.equal(agents.open.length, 0);
});

Deno.test("ProjectAgentManager makes no agent after it was closed", async () => {
  const { agents, closed } = manager(5);
  await agents.get(project("a"));
  await agents.close();
  assert.deepEqual(closed, ["a"]);
  await assert.rejects(agents.get(project("b")), /shutting down/);
});
