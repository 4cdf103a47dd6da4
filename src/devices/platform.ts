// A kind of device, described as data: what its prompts look like, what it asks, what is harmless, what is never sent.

/** A level of a device's command line. `prompt` is matched with the whole last line, without blanks at its end. */
export interface Mode {
  name: string;
  prompt: RegExp;
  /** The mode from which `enter` leads here; `leave` leads back. The lowest mode has none. */
  from?: string;
  enter?: string;
  leave?: string;
  /** Makes commands of the home mode run here too when put before them; left out where they do not run here. */
  prefix?: string;
}

/** A question that a device may ask. Without an answer the command is stopped and the question reported. */
export interface Question {
  pattern: RegExp;
  /** Keys that decline, or that choose what changes nothing. */
  answer?: string;
  /** Keys that agree, only for a command that was meant to change something. */
  confirm?: string;
  /** Types the node's password. */
  password?: true;
  /** The commands to which the answer belongs; all when left out. */
  to?: RegExp;
}

/** One rule of what is never sent, or of what cannot be used, and why. */
export interface Refusal {
  pattern: RegExp;
  why: string;
  /** It would reach the machine that runs GNS3: refused on such a node whatever its tag says. */
  host?: true;
}

/**
 * Keys that make a silent console show itself; `after`: only when that is what stands on the last line, `unless`: not
 * when the console has shown that before.
 */
export interface WakeKeys {
  keys: string;
  after?: RegExp;
  unless?: RegExp;
}

/** How a device asks who is there. `leave` logs out again at the lowest mode. */
export interface Login {
  username: RegExp;
  password: RegExp;
  refused: RegExp;
  leave: string;
}

/** Settings of the session that may be changed for the visit and are put back: paging and width. */
export interface SessionSettings {
  /** `$1` in `on` is how many lines a page had. */
  paging?: { off: string; on: string };
  width?: { wide: string; usual: string };
  /** The modes in which these commands exist; all when left out. */
  modes?: string[];
}

/** Configuration that takes effect only when it is committed. */
export interface Commit {
  /** The prompt while something waits for it. */
  pending: RegExp;
  command: string;
  discard: string;
}

/** The commands that show configurations, and what of their output is no configuration. */
export interface Configurations {
  running: string;
  startup?: string;
  /** What a device says that has none. */
  none?: RegExp;
  noise: RegExp[];
}

export interface Platform {
  name: string;
  /** What people call such a device, for messages. */
  title: string;
  /** Netmiko's names, as in the tag `device_type:…`; the first is the one to recommend. */
  deviceTypes: string[];
  /** GNS3 node types that are always of this kind. */
  nodeTypes: string[];
  /** How images, templates and nodes of this kind are called. */
  hints: RegExp[];
  modes: Mode[];
  /** The mode in which commands run. */
  home: string;
  /** The mode in which configuration is typed; left out where nothing is configured so. */
  configMode?: string;
  lineEnding: string;
  /** Stop a running command; tried in turn. */
  interrupt: string[];
  /** Leaves a question without an answer. */
  cancel: string;
  /** Empties a half-typed line without running it. */
  clear: string;
  /** Asks for a fresh prompt at an empty line. */
  enter: string;
  /** Tried in turn on a silent console; none of them confirms anything. */
  wake: WakeKeys[];
  /** "Press RETURN": what a console says that waits for somebody. */
  invitation?: RegExp;
  pager?: { pattern: RegExp; more: string; quit: string };
  questions: Question[];
  /** Questions of a device that starts for the first time. */
  startup: Question[];
  /** What a console shows that cannot be used. */
  blocked: Refusal[];
  login?: Login;
  /** Log lines that a device prints between everything else. */
  noise?: RegExp;
  /** Lines by which a device says that it did not do what it was told. */
  failures: RegExp[];
  /** Commands that only look or test, without pipes. */
  readOnly: RegExp[];
  /** What may stand behind `|` in such a command, and words by which a pipe writes. */
  pipes?: { filters: RegExp; writers: string[] };
  refused: Refusal[];
  /** Commands that take something away for good or restart the device. */
  destroys: RegExp[];
  /** Commands of the home mode, which people also write among configuration lines. */
  exec: RegExp[];
  /** Lines that only change the mode: this program does that itself. */
  modeChanges: { in: RegExp; out: RegExp; back: RegExp };
  /** Lines that people leave in configurations and that do nothing. */
  comment?: RegExp;
  /** Input of several lines; the group is the character that ends it. */
  multiline?: RegExp;
  commit?: Commit;
  configurations?: Configurations;
  /** The characters that a command may have. */
  charset: RegExp;
  maxLength: number;
  session?: SessionSettings;
  /**
   * Commands that need another time limit than usual, the first match counts. `endless`: it runs until somebody stops
   * it, so that being stopped is no failure.
   */
  limits: { pattern: RegExp; seconds: number; endless?: true }[];
  /** Commands after which the device is gone for a while. */
  restarts: RegExp[];
}

/** The mode called `name`. */
export function modeOf(platform: Platform, name: string): Mode | undefined {
  return platform.modes.find((one) => one.name === name);
}

/** The time limit of a command in milliseconds, and whether it is made to run until somebody stops it. */
export function limitOf(
  platform: Platform,
  command: string,
  usualMs: number,
): { ms: number; endless: boolean } {
  const special = platform.limits.find(({ pattern }) => pattern.test(command));
  return { ms: special ? special.seconds * 1_000 : usualMs, endless: special?.endless ?? false };
}

/** The command that leads one step from mode `from` towards mode `to`, up or down the tree of modes. */
export function nextStep(platform: Platform, from: string, to: string): string | undefined {
  const path: string[] = [];
  for (let at = modeOf(platform, to); at; at = at.from ? modeOf(platform, at.from) : undefined) {
    path.unshift(at.name);
  }
  const below = path.indexOf(from);
  return below >= 0 ? modeOf(platform, path[below + 1] ?? "")?.enter : modeOf(platform, from)?.leave;
}
