// Every option of the server in one table: what it may be, its default, and what `--help` and the README say about it.
import { z } from "zod";

const number = (must: string, type: z.ZodNumber) => ({ must, type });
const seconds = (min: number) =>
  number(`a number of seconds from ${min} to 86400`, z.number().min(min).max(86_400));
const whole = (min: number, max: number) =>
  number(`a whole number from ${min} to ${max}`, z.int().min(min).max(max));
const choice = <const T extends readonly [string, ...string[]]>(...values: T) => ({
  must: `one of ${values.join(", ")}`,
  type: z.enum(values),
});
const flag = { must: "true or false", type: z.boolean() };
const text = { must: "a text without control characters", type: z.string().regex(/^\P{Cc}*$/u) };
const httpUrl = {
  must: "an http or https URL without a user name, a query or a fragment",
  type: z.string()
    .refine((value) => {
      const url = URL.canParse(value) ? new URL(value) : null;
      return url !== null && /^https?:$/.test(url.protocol) &&
        url.username + url.password + url.search + url.hash === "";
    })
    .overwrite((value) => value.replace(/\/+$/, "")),
};
const origins = {
  must: "'*' or a comma-separated list of origins such as https://lab.example",
  type: z.array(
    z.string().refine((value) => value === "*" || (URL.canParse(value) && new URL(value).origin === value)),
  ),
};

const hosts = {
  must: "a comma-separated list of hosts such as api.openai.com, *.example.org or 127.0.0.1:11434",
  type: z.array(z.string().regex(/^(\*\.)?([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:\d{1,5})?$/i)),
};

/** One option: what it may be, what it is when left out, and what `--help` and the README say about it. */
interface Setting<T extends z.ZodType = z.ZodType> {
  type: T;
  /** Completes "must be …". */
  must: string;
  fallback: z.output<T>;
  /** Stands for the value in `--help`. */
  value: string;
  help: string;
}

function setting<T extends z.ZodType>(
  kind: { type: T; must: string },
  fallback: z.output<T>,
  value: string,
  help: string,
): Setting<T> {
  return { ...kind, fallback, value, help };
}

/**
 * The options. `heartbeatInterval` is `--heartbeat-interval`, `GNS3_COPILOT_HEARTBEAT_INTERVAL` and `heartbeat_interval`
 * in the file. All times are in seconds.
 */
export const SETTINGS = {
  gns3Url: setting(httpUrl, "http://127.0.0.1:3080", "URL", "the GNS3 server (3.0 or 3.1)"),
  projectsDir: setting(
    text,
    "",
    "DIR",
    "GNS3's projects directory; left out: projects_path of GNS3's own gns3_server.conf, else ~/GNS3/projects",
  ),
  stateDir: setting(
    text,
    "",
    "DIR",
    "our own files; left out: $XDG_STATE_HOME/gns3-copilot, else ~/.local/state/gns3-copilot",
  ),
  skillsDir: setting(
    text,
    "",
    "DIR",
    "a local copy of GNS3-Skills, or a folder in its layout, over the skills that are built in",
  ),
  host: setting(
    { ...text, type: text.type.min(1), must: "an address to listen on" },
    "127.0.0.1",
    "HOST",
    "the address to listen on",
  ),
  port: setting(whole(0, 65_535), 3081, "PORT", "the port to listen on; 0: any free one"),
  corsOrigins: setting(origins, [], "ORIGINS", "web pages of these origins may call this server; '' = none"),
  gateway: setting(
    flag,
    false,
    "",
    "pass everything that is not this server's own on to GNS3, its Web UI included",
  ),
  gns3User: setting(
    text,
    "",
    "NAME",
    "a GNS3 account for hearing of projects (password: GNS3_COPILOT_GNS3_PASSWORD); left out: the newest caller's sign-in",
  ),
  heartbeatInterval: setting(
    seconds(0),
    15,
    "SECONDS",
    "the longest silence in an event stream; 0: no heartbeats",
  ),
  titleTimeout: setting(seconds(0), 5, "SECONDS", "how long the model may take to title a conversation"),
  modelTimeout: setting(
    seconds(0.1),
    120,
    "SECONDS",
    "how long the model may be silent before its answer counts as failed",
  ),
  maxProjects: setting(whole(1, 10_000), 64, "N", "how many projects are held open at the same time"),
  drainTimeout: setting(
    seconds(0),
    20,
    "SECONDS",
    "how long running answers may go on after the server was told to stop",
  ),
  checkpointsKept: setting(whole(1, 10_000), 1, "N", "how many checkpoints of a conversation are kept"),
  modelHosts: setting(
    hosts,
    [],
    "HOSTS",
    "the only hosts that model configurations of users and groups may name; '' = any",
  ),
  turnsPerMinute: setting(
    whole(0, 100_000),
    0,
    "N",
    "how many messages a user may send in a minute; 0: any number",
  ),
  tokensPerDay: setting(
    whole(0, 1_000_000_000_000),
    0,
    "N",
    "how many tokens a user may spend in a day (UTC); 0: any number",
  ),
  groupTokensPerDay: setting(
    whole(0, 1_000_000_000_000),
    0,
    "N",
    "how many tokens the members of a group may spend in a day with the group's model configurations; 0: any number",
  ),
  consoleTransport: setting(
    choice("websocket", "telnet"),
    "websocket",
    "HOW",
    "how device consoles are reached: websocket (through GNS3) or telnet",
  ),
  teachingCanBuild: setting(
    flag,
    false,
    "",
    "in teaching mode the assistant may also create nodes, links and drawings, start nodes and rename them",
  ),
  snapshotBeforeChanges: setting(
    flag,
    false,
    "",
    "make a snapshot of the lab before a turn's first change, where GNS3 can (all nodes stopped)",
  ),
  logLevel: setting(
    choice("error", "warn", "info", "debug"),
    "info",
    "LEVEL",
    "what is logged: error, warn, info or debug",
  ),
  logFormat: setting(choice("pretty", "json"), "pretty", "FORMAT", "how it is logged: pretty or json"),
  verbose: setting(flag, false, "", "the same as --log-level debug"),
  quiet: setting(flag, false, "", "print nothing but errors"),
};

export type SettingKey = keyof typeof SETTINGS;
export type Settings = { [K in SettingKey]: z.output<(typeof SETTINGS)[K]["type"]> };

/** The table's keys in its order. */
export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];

/** What our environment variables start with. */
export const PREFIX = "GNS3_COPILOT_";

/** `maxProjects` → `max-projects`. */
export function flagOf(key: SettingKey): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `maxProjects` → `GNS3_COPILOT_MAX_PROJECTS`. */
export function variableOf(key: SettingKey): string {
  return PREFIX + flagOf(key).replaceAll("-", "_").toUpperCase();
}

/** A setting's default as text for people. */
export function fallbackOf(key: SettingKey): string {
  const { fallback } = SETTINGS[key];
  return Array.isArray(fallback) ? `'${fallback.join(",")}'` : String(fallback);
}

/** The options as `--help` shows them. */
export function optionsHelp(): string {
  const rows = SETTING_KEYS.map((key) => {
    const { value, help, fallback } = SETTINGS[key];
    const shown = fallback === "" || fallback === false ? "" : ` (${fallbackOf(key)})`;
    return [`--${flagOf(key)} ${value}`.trimEnd(), help + shown];
  });
  rows.push(["--config FILE", "a YAML file with these options, underscores for dashes, and `model:`"]);
  rows.push(["--version", "print the version"], ["--help", "print this"]);
  const width = Math.max(...rows.map(([left]) => left!.length)) + 2;
  return rows.map(([left, right]) => `  ${left!.padEnd(width)}${right}`).join("\n");
}
