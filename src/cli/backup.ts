// `gns3-copilot backup`: copies of projects' chat databases, made while the server runs.
import { join, resolve } from "node:path";
import { AppError, errorText } from "../domain/error.ts";
import { backupDatabase } from "../storage/backup.ts";
import { visitDatabase } from "../storage/visit.ts";
import type { Command } from "./command.ts";
import { chooseProjects, PROJECT_OPTIONS } from "./projects.ts";
import { healthText } from "./check.ts";

const OPTIONS = `${PROJECT_OPTIONS}
  --to PLACE         the directory for the copies (the present one), or a new file whose name
                     ends in .db for the copy of one project

The server may run meanwhile. Each copy is checked. To go back to one, close the project in
GNS3 and copy it over gns3-copilot/copilot_checkpoints.db in the project's folder.`;

export const backup: Command = {
  name: "backup",
  summary: "copy projects' conversations while the server runs",
  options: () => OPTIONS,
  run(args, context) {
    const { values, projects } = chooseProjects("backup", args, context, { to: { type: "string" } });
    const targetOf = targets(String(values.to ?? "."), projects.length, new Date());
    let failed = 0;
    for (const { name, place, refusal } of projects) {
      try {
        if (!place) throw new AppError("forbidden", refusal ?? "");
        using visit = visitDatabase(place);
        const target = targetOf(name);
        const health = backupDatabase(visit.file, target);
        context.print(`${name}: ${healthText(health)}, copied to ${target}`);
      } catch (error) {
        failed++;
        context.print(`${name}: not copied. ${errorText(error)}`);
      }
    }
    if (projects.length === 0) context.print("No project has a chat database.");
    return Promise.resolve(failed > 0 ? 1 : 0);
  },
};

/** Where the copy of each project goes; a directory is made when it is missing. */
function targets(to: string, projects: number, now: Date): (project: string) => string {
  const place = resolve(to);
  if (place.endsWith(".db")) {
    if (projects === 1) return () => place;
    throw new AppError("bad_request", `--to ${to} is one file, for ${projects} projects: name a directory.`);
  }
  try {
    Deno.mkdirSync(place, { recursive: true });
  } catch (error) {
    throw new AppError("unavailable", `The directory ${place} cannot be made: ${errorText(error)}`);
  }
  const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
  return (project) => join(place, `${project}-${time}.db`);
}
