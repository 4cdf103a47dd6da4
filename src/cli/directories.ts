// Finds the projects directory, the state directory and the skills directory, as real paths.
import { join } from "node:path";
import { type Config, freezeConfig } from "../config.ts";
import { AppError } from "../domain/error.ts";

type Environment = Readonly<Record<string, string>>;

/** Where GNS3 keeps configuration for the whole machine. */
const SYSTEM_PLACES = ["/etc/xdg/GNS3", "/etc/gns3"];

/**
 * The configuration with its directories found and resolved; the state directory is created, for its owner only.
 * Throws AppError with a sentence that names the directory and the option.
 */
export function withDirectories(config: Config, env: Environment, systemPlaces = SYSTEM_PLACES): Config {
  const { projectsDir } = withProjectsDirectory(config, env, systemPlaces);
  const stateDir = statePath(config, env);
  try {
    Deno.mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = error instanceof Deno.errors.AlreadyExists ? "is not a directory" : "cannot be created";
    throw new AppError(
      "unavailable",
      `The state directory ${stateDir} ${why}. Name another with --state-dir.`,
    );
  }
  const skillsDir = config.skillsDir && realDirectory(expandHome(config.skillsDir, env), "skills");
  return freezeConfig({ ...config, projectsDir, stateDir: realDirectory(stateDir, "state"), skillsDir });
}

/** The configuration with the state directory found and resolved. Throws AppError when there is none: it is not created. */
export function withStateDirectory(config: Config, env: Environment): Config {
  return freezeConfig({ ...config, stateDir: realDirectory(statePath(config, env), "state") });
}

/** The configuration with the projects directory found and resolved. Throws AppError when there is none. */
export function withProjectsDirectory(
  config: Config,
  env: Environment,
  systemPlaces = SYSTEM_PLACES,
): Config {
  return freezeConfig({
    ...config,
    projectsDir: realDirectory(projectsPath(config, env, systemPlaces), "projects"),
  });
}

function realDirectory(path: string, kind: "projects" | "state" | "skills"): string {
  let why = "does not exist";
  try {
    const real = Deno.realPathSync(path);
    if (Deno.statSync(real).isDirectory) return real;
    why = "is not a directory";
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) why = "may not be read by this user";
  }
  const advice = kind === "projects" ? "Name GNS3's projects directory with" : "Name another with";
  throw new AppError("unavailable", `The ${kind} directory ${path} ${why}. ${advice} --${kind}-dir.`);
}

function projectsPath(config: Config, env: Environment, systemPlaces: readonly string[]): string {
  if (config.projectsDir) return expandHome(config.projectsDir, env);
  for (const file of gns3Files(env, systemPlaces)) {
    const path = projectsPathIn(file);
    if (path) return expandHome(path, env);
  }
  return join(home(env, "--projects-dir"), "GNS3", "projects");
}

function statePath(config: Config, env: Environment): string {
  if (config.stateDir) return expandHome(config.stateDir, env);
  const base = env.XDG_STATE_HOME || join(home(env, "--state-dir"), ".local", "state");
  return join(base, "gns3-copilot");
}

function home(env: Environment, option: string): string {
  const path = env.HOME || env.USERPROFILE;
  if (!path) throw new AppError("unavailable", `This user has no home directory (HOME): give ${option}.`);
  return path;
}

function expandHome(path: string, env: Environment): string {
  return path === "~" || path.startsWith("~/")
    ? join(home(env, "a full path instead of ~"), path.slice(1))
    : path;
}

/** Where GNS3 looks for its configuration: the user's before the machine's, newer versions before older ones. */
function* gns3Files(env: Environment, systemPlaces: readonly string[]): Generator<string> {
  const user = env.XDG_CONFIG_HOME || (env.HOME ? join(env.HOME, ".config") : "");
  for (const place of [...(user ? [join(user, "GNS3")] : []), ...systemPlaces]) {
    for (const version of versionsIn(place)) yield join(place, version, "gns3_server.conf");
    yield join(place, "gns3_server.conf");
    yield `${place}.conf`;
  }
}

function versionsIn(place: string): string[] {
  try {
    const names = [...Deno.readDirSync(place)].map(({ name }) => name).filter((name) =>
      /^\d+(\.\d+)*$/.test(name)
    );
    return names.sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  } catch {
    return [];
  }
}

/** `projects_path` of the section `[Server]`; undefined when the file cannot be read or does not say. */
function projectsPathIn(file: string): string | undefined {
  let text: string;
  try {
    text = Deno.readTextFileSync(file);
  } catch {
    return undefined;
  }
  let section = "";
  for (const line of text.split(/\r?\n/)) {
    section = /^\s*\[(.+)\]/.exec(line)?.[1] ?? section;
    const value = /^\s*projects_path\s*[=:]\s*(.*\S)/.exec(line)?.[1];
    if (section === "Server" && value) return value;
  }
  return undefined;
}
