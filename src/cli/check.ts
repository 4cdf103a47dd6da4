// `gns3-copilot check`: whether projects' chat databases are whole; `--repair` recovers what is readable of those that are not.
import { errorText } from "../domain/error.ts";
import { checkDatabase, type Health } from "../storage/check.ts";
import { compactDatabase, repairDatabase } from "../storage/repair.ts";
import { type Visit, visitDatabase } from "../storage/visit.ts";
import type { Command, CommandContext } from "./command.ts";
import { chooseProjects, type ChosenProject, PROJECT_OPTIONS } from "./projects.ts";

const OPTIONS = `${PROJECT_OPTIONS}
  --repair           recover what is readable of a damaged database into a new one, keep the
                     damaged file beside it, and make whole ones as small as they can be;
                     only for projects that no server uses: close them in GNS3

The exit code is 0 when everything is whole, 1 when something is not.`;

export const check: Command = {
  name: "check",
  summary: "check projects' conversations, --repair damaged ones",
  options: () => OPTIONS,
  run(args, context) {
    const { values, projects } = chooseProjects("check", args, context, { repair: { type: "boolean" } });
    const whole = projects.filter((project) => checkOne(project, values.repair === true, context)).length;
    if (projects.length === 0) context.print("No project has a chat database.");
    else if (projects.length > 1) context.print(`${whole} of ${projects.length} chat databases are whole.`);
    return Promise.resolve(whole === projects.length ? 0 : 1);
  },
};

/** `3 sessions, 42 messages`. */
export function healthText({ sessions, messages }: Health): string {
  return `${counted(sessions, "session")}, ${counted(messages, "message")}`;
}

/** Checks, and repairs where that is wanted and needed; returns whether the database is whole in the end. */
function checkOne(
  { name, place, refusal }: ChosenProject,
  repair: boolean,
  { print }: CommandContext,
): boolean {
  const say = (text: string) => print(`${name}: ${text}`);
  if (!place) return say(refusal ?? ""), false;
  try {
    using visit = visitDatabase(place);
    const health = checkDatabase(visit.file);
    const used = visit.inUse ? "; a server is using it" : "";
    if (health.problems.length === 0) {
      say(`whole, ${healthText(health)}${used}`);
      if (repair) compact(visit, say);
      return true;
    }
    say(`not whole${used}`);
    for (const problem of health.problems) print(`  ${problem}`);
    if (health.notOurs) return false;
    if (visit.inUse) return say("close the project in GNS3, or stop the server, before --repair"), false;
    if (!repair) return say(`gns3-copilot check --repair ${name} recovers what is readable`), false;
    const { health: repaired, damaged } = repairDatabase(visit.file, new Date());
    say(`repaired, ${healthText(repaired)}; the damaged file is kept as ${damaged}`);
    return true;
  } catch (error) {
    return say(errorText(error)), false;
  }
}

function compact({ file, inUse }: Visit, say: (text: string) => void): void {
  if (inUse) return say("not made smaller while a server is using it");
  const { before, after } = compactDatabase(file);
  if (after < before) say(`made smaller, from ${megabytes(before)} to ${megabytes(after)}`);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
