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
      project: project(project_id),
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
  (await agents.release("nothing", "deleted"))();
  assert.deepEqual(closed, ["b"]);
  assert.equal(agents.open.length, 2);
});

Deno.test("ProjectAgentManager closes an agent that is released while it is being made", async () => {
  const { agents, closed } = manager(5);
  const getting = agents.get(project("a"));
  const refused = assert.rejects(getting, /Current status: closed/);
  await agents.projectClosed("a");
  await refused;
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

/** Agents whose closing the test decides about, as far as it wants to. */
function slowManager(lingerMs: number) {
  const log: string[] = [];
  let let_go = Promise.withResolvers<void>();
  let_go.resolve();
  let taken: string | undefined;
  const create = ({ project_id }: Project) => {
    log.push(`open ${project_id}`);
    return {
      project: project(project_id),
      busy: false,
      get taken() {
        const now = taken;
        taken = undefined;
        return now;
      },
      close: async ({ reason, until }: { reason: string; until?: Promise<void> }) => {
        log.push(`end turns: ${reason}`);
        await until;
        await let_go.promise;
        log.push(`close ${project_id}`);
      },
    } as unknown as AgentService;
  };
  return {
    log,
    hold: () => let_go = Promise.withResolvers<void>(),
    take: (how: string) => taken = how,
    agents: new ProjectAgentManager({ maxProjects: 5, create, lingerMs, log: testLog().log }),
  };
}

Deno.test("ProjectAgentManager opens a project's next database only when the last one is closed", async () => {
  const { agents, log, hold } = slowManager(0);
  await agents.get(project("a"));
  const { resolve } = hold();
  const released = agents.projectClosed("a");
  await agents.projectOpened("a");
  const again = agents.get(project("a"));
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(log, ["open a", "end turns: project_closed"]);
  resolve();
  await Promise.all([released, again]);
  assert.deepEqual(log, ["open a", "end turns: project_closed", "close a", "open a"]);
});

Deno.test("ProjectAgentManager lets go of a closed project's files after a while, at once when it is opened or deleted", async () => {
  for (const next of ["opened", "deleted", "get", "release", "close"] as const) {
    const { agents, log } = slowManager(60_000);
    await agents.get(project("a"));
    const closed = agents.projectClosed("a");
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(log, ["open a", "end turns: project_closed"], next);
    if (next === "opened") await agents.projectOpened("a");
    if (next === "deleted") await agents.projectDeleted("a");
    if (next === "get") await agents.get(project("a"));
    if (next === "release") await agents.release("a", "restored");
    if (next === "close") await agents.close();
    await closed;
    assert.deepEqual(log.slice(0, 3), ["open a", "end turns: project_closed", "close a"], next);
  }
});

Deno.test("ProjectAgentManager does not believe an answer of GNS3 that is older than what it has heard since", async () => {
  const { agents, log } = slowManager(0);
  const early = agents.now();
  await agents.projectClosed("a");
  await assert.rejects(agents.get(project("a"), early), /Current status: closed/);
  assert.deepEqual(log, []);
  const late = agents.now();
  await agents.get(project("a"), late);
  await agents.projectClosed("a", early);
  assert.deepEqual(log, ["open a"], "it was open when it was asked later");
  // Opened again, as GNS3 says: then even the early answer is as good as any.
  await agents.projectClosed("a");
  await agents.projectOpened("a");
  await agents.get(project("a"), early);
  assert.deepEqual(log, ["open a", "end turns: project_closed", "close a", "open a"]);
});

Deno.test("ProjectAgentManager makes a new agent where the files were taken away, and tells the turns why", async () => { // M4
  for (const [how, reason] of [["restored", "project_restored"], ["deleted", "project_deleted"]] as const) {
    const { agents, log, take } = slowManager(0);
    await agents.get(project("a"));
    await agents.projectOpened("a");
    assert.deepEqual(log, ["open a"], "a project that is open already may well be said to open");
    take(how);
    await agents.get(project("a"));
    assert.deepEqual(log, ["open a", `end turns: ${reason}`, "close a", "open a"]);
    take(how);
    await agents.projectOpened("a");
    assert.equal(agents.open.length, 0);
  }
});

Deno.test("ProjectAgentManager gives nobody an agent while a project's files are being taken away", async () => {
  for (const [how, reason] of [["deleted", "project_closed"], ["restored", "project_restored"]] as const) {
    const { agents, log } = slowManager(60_000);
    assert.equal(agents.holds("a"), false);
    await agents.get(project("a"));
    assert.equal(agents.holds("a"), true);
    const [first, second] = await Promise.all([agents.release("a", how), agents.release("a", how)]);
    assert.deepEqual(log, ["open a", `end turns: ${reason}`, "close a"]);
    first();
    await assert.rejects(agents.get(project("a")), /is being changed/);
    second();
    await agents.get(project("a"));
  }
});
