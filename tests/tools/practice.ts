// The practice lab with a caller's tools on it, for tests of single tools.
import { Consoles } from "../../src/devices/consoles.ts";
import type { AuditedCall } from "../../src/domain/audit.ts";
import { Gns3Client } from "../../src/gns3/client.ts";
import type { Gns3Version } from "../../src/practice/gns3/error.ts";
import { type PracticeGns3, startPracticeGns3 } from "../../src/practice/gns3_server.ts";
import { executeCall, prepareCall, type ToolAnswer } from "../../src/tools/run.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { faultsInMemory, skillsWith } from "../fakes/skills.ts";

// deno-lint-ignore no-explicit-any -- the answers' shapes are what the tests are about
export type Json = any;

export interface PracticeLab extends AsyncDisposable {
  gns3: PracticeGns3;
  context: ToolContext;
  audited: AuditedCall[];
  answer(name: string, args: unknown, more?: Partial<ToolContext>): Promise<ToolAnswer>;
  /** The answer's value, whether it is a failure or not. */
  call(name: string, args: unknown, more?: Partial<ToolContext>): Promise<Json>;
  /** A request to GNS3 itself, as the administrator. */
  api(method: string, path: string, body?: unknown): Promise<Json>;
}

/** PC1 - R1 - R2 - PC2, as `user` may use it. */
export async function practiceLab(
  { version, user = "alice" }: { version?: Gns3Version; user?: string } = {},
): Promise<PracticeLab> {
  const gns3 = await startPracticeGns3({ version });
  const consoles = new Consoles();
  const client = new Gns3Client({ baseUrl: gns3.url, credential: gns3.tokens[user]! });
  const audited: AuditedCall[] = [];
  const context: ToolContext = {
    project: await client.project(gns3.projectId),
    gns3: client,
    consoles: consoles.forCaller(client),
    skills: skillsWith(),
    faults: faultsInMemory(),
    audit: (call) => void audited.push(call),
    mode: "lab_automation_assistant",
    signal: new AbortController().signal,
    now: Date.now,
  };
  const answer = async (name: string, args: unknown, more: Partial<ToolContext> = {}) => {
    const used = { ...context, ...more };
    const call = { name, arguments: JSON.stringify(args) };
    return await executeCall(prepareCall(call, used), used, {
      onFault: (fault) => {
        throw fault;
      },
    });
  };
  return {
    gns3,
    context,
    audited,
    answer,
    call: async (name, args, more) => JSON.parse((await answer(name, args, more)).output),
    async api(method, path, body) {
      const response = await fetch(`${gns3.url}/v3/projects/${gns3.projectId}${path}`, {
        method,
        headers: { authorization: `Bearer ${gns3.tokens.admin}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return text ? JSON.parse(text) : undefined;
    },
    async [Symbol.asyncDispose]() {
      await consoles.close();
      await gns3.close();
    },
  };
}
