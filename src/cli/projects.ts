// Which projects' databases a command works on.
import { basename, dirname, join, resolve } from "node:path";
import { readConfig } from "../config.ts";
import { AppError, errorText } from "../domain/error.ts";
import { findPlace, type Place } from "../storage/places.ts";
import type { CommandContext } from "./command.ts";
import { withProjectsDirectory } from "./directories.ts";
import { type Given, readOptions } from "./options.ts";

/** A project that was named, or found in the projects directory, with its database or why there is none to work on. */
export interface ChosenProject {
  /** The name of its folder: its id. */
  name: string;
  place?: Place;
  refusal?: string;
}

export const PROJECT_OPTIONS =
  `  PROJECT...         projects by id or by folder; left out: all that have a chat database
  --projects-dir DIR GNS3's projects directory, as the server has it
  --config FILE      the server's configuration file`;

/**
 * Reads a command's own `options` (names and whether they take a value) and the projects. Throws `AppError` for an unknown
 * option, and for a project that was named and has no chat database.
 */
export function chooseProjects(
  command: string,
  args: readonly string[],
  { env }: CommandContext,
  options: Record<string, { type: "string" | "boolean" }>,
): { values: Given; projects: ChosenProject[] } {
  const common = { "projects-dir": { type: "string" }, config: { type: "string" } } as const;
  const { values, names } = readOptions(command, args, { ...common, ...options }, { names: true });
  const given = Object.keys(common).flatMap((name) =>
    values[name] ? [`--${name}`, String(values[name])] : []
  );
  // A folder says by itself where it is.
  const directory = () => {
    const { config } = readConfig({ args: given, env, read: Deno.readTextFileSync });
    return withProjectsDirectory(config, env).projectsDir;
  };
  if (names.length === 0) return { values, projects: allIn(directory()) };
  return { values, projects: names.map((name) => named(name, directory)) };
}

function named(name: string, directory: () => string): ChosenProject {
  const folder = /[/\\]|^\.+$/.test(name) ? resolve(name) : join(directory(), name);
  let real: string;
  try {
    real = Deno.realPathSync(folder);
  } catch {
    throw new AppError("not_found", `There is no project folder ${folder}.`);
  }
  const place = findPlace(real, dirname(real));
  if (!place) throw new AppError("not_found", `The project in ${folder} has no chat database.`);
  return { name: basename(real), place };
}

function allIn(directory: string): ChosenProject[] {
  const names = [...Deno.readDirSync(directory)].filter(({ isDirectory }) => isDirectory).map(({ name }) =>
    name
  );
  return names.sort().flatMap((name): ChosenProject[] => {
    try {
      const place = findPlace(join(directory, name), directory);
      return place ? [{ name, place }] : [];
    } catch (error) {
      return [{ name, refusal: errorText(error) }];
    }
  });
}
