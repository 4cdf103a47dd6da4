// The route that reads the skills folder again, as GNS3's own copilot has it.
import { z } from "zod";
import { PROMPT_NAMES } from "../../agent/prompts/mod.ts";
import { AppError } from "../../domain/error.ts";
import type { Gns3User } from "../../gns3/shapes.ts";
import type { Knowledge, SkillSet } from "../../knowledge/skill_set.ts";
import type { Skills } from "../../knowledge/skills.ts";
import { credentialOf } from "../auth.ts";
import type { Route } from "./route.ts";

export interface SkillsDeps {
  skills: Skills;
  /** Who has this credential, by GNS3. Throws 401, 503. */
  me(credential: string, signal: AbortSignal): Promise<Gns3User>;
}

const reloaded = z.object({
  success: z.boolean(),
  skills: z.boolean(),
  skill_count: z.int().describe("Device, feature and injection skills"),
  prompts: z.boolean(),
  prompt_count: z.int(),
  protocols: z.boolean(),
  protocol_count: z.int().describe("Protocols with a packet skill"),
  forbidden_commands: z.int(),
  version: z.string().describe("`builtin`, or the beginning of a hash over the folder's files"),
  fault_count: z.int(),
  problems: z.array(z.object({ file: z.string(), problem: z.string() })).describe(
    "Files that were left out, and why",
  ),
});

/** More problems are for the log. */
const TOLD = 100;

/** What GNS3's Web UI is told of a set; `fault_count` and `problems` are ours. */
export function reloadAnswer(set: SkillSet, knowledge: Knowledge): z.infer<typeof reloaded> {
  const unused = [...set.prompts.keys()].filter((name) => !PROMPT_NAMES.includes(name));
  const problems = [
    ...knowledge.problems,
    ...unused.map((name) => ({
      file: `prompts/${name}.md`,
      problem: `no prompt has this name; there are ${PROMPT_NAMES.join(", ")}`,
    })),
  ];
  const issues = [...knowledge.injections.values()].reduce((sum, one) => sum + one.issues.size, 0);
  return {
    success: true,
    skills: true,
    skill_count: knowledge.devices.size + knowledge.injections.size,
    prompts: true,
    prompt_count: PROMPT_NAMES.length,
    protocols: true,
    protocol_count: knowledge.packets.size,
    forbidden_commands: set.forbiddenCommands.length,
    version: set.version,
    fault_count: issues,
    problems: problems.slice(0, TOLD),
  };
}

/** `POST /v3/copilot/reload/skills`, for superadmins: the skills are everybody's. Turns that run keep the old ones. */
export function skillsRoutes({ skills, me }: SkillsDeps): Route[] {
  return [{
    method: "post",
    path: "/v3/copilot/reload/skills",
    id: "reloadSkills",
    tag: "skills",
    summary: "Read the skills folder again; for GNS3's superadmins",
    answers: { 200: { description: "What is in use now", schema: reloaded } },
    handle: async (c) => {
      const user = await me(credentialOf(c), c.req.raw.signal);
      if (!user.is_superadmin) {
        throw new AppError(
          "forbidden",
          "Only a superadmin of GNS3 may reload the skills: they are everybody's.",
        );
      }
      const set = await skills.reload();
      return c.json(reloadAnswer(set, await set.knowledge()));
    },
  }];
}
