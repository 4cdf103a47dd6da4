// Log lines, pretty or JSON, from which every secret is cut before they are written.
import { formatJson } from "./domain/unicode.ts";
import { createRedactor, type Redactor } from "./redact.ts";

const LEVELS = ["error", "warn", "info", "debug"] as const;
export type LogLevel = typeof LEVELS[number];

/** What a line tells besides its message, such as `request_id`. Errors are shown by name and message. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes log lines. A message is a sentence; what varies goes into the fields. */
export interface Logger {
  readonly level: LogLevel;
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  /** A logger whose lines carry these fields too. */
  child(fields: LogFields): Logger;
  /** From now on this text is cut from every line of this logger, its parents and its children. */
  secret(value: string): void;
}

export interface LogOptions {
  level: LogLevel;
  format: "pretty" | "json";
  /** Takes one line with its line feed; left out: standard error. */
  write?(line: string): void;
  now?(): Date;
}

/** Makes the root logger. Stacks of errors are shown at level debug only. */
export function createLogger(options: LogOptions): Logger {
  return loggerWith(options, createRedactor({ stacks: options.level === "debug" }), {});
}

function loggerWith(options: LogOptions, redactor: Redactor, base: LogFields): Logger {
  const { write = writeToStandardError, now = () => new Date() } = options;
  const line = options.format === "json" ? jsonLine : prettyLine;
  const at = (level: LogLevel) => (message: string, fields: LogFields = {}) => {
    if (LEVELS.indexOf(level) > LEVELS.indexOf(options.level)) return;
    const clean = redactor.fields({ ...base, ...fields });
    write(line(now().toISOString(), level, redactor.text(message), clean));
  };
  return {
    level: options.level,
    error: at("error"),
    warn: at("warn"),
    info: at("info"),
    debug: at("debug"),
    child: (fields) => loggerWith(options, redactor, { ...base, ...fields }),
    secret: redactor.add,
  };
}

function jsonLine(time: string, level: LogLevel, msg: string, fields: LogFields): string {
  const head = { time, level, msg };
  return formatJson({ ...head, ...fields, ...head }) + "\n";
}

function prettyLine(time: string, level: LogLevel, msg: string, fields: LogFields): string {
  const shown = Object.entries(fields).map(([name, value]) => {
    const plain = typeof value === "string" && /^[^\s"=]+$/.test(value);
    return ` ${name}=${plain ? value : JSON.stringify(value)}`;
  });
  return oneLine(`${time} ${level.toUpperCase().padEnd(5)} ${msg}${shown.join("")}`) + "\n";
}

/** A text from outside must not be able to look like another log line or to steer a terminal. */
function oneLine(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, (char) => JSON.stringify(char).slice(1, -1));
}

const encoder = new TextEncoder();

function writeToStandardError(line: string): void {
  let rest = encoder.encode(line);
  while (rest.length > 0) rest = rest.subarray(Deno.stderr.writeSync(rest));
}
