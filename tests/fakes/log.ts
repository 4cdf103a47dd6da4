// A logger whose lines a test can read.
import { createLogger, type Logger } from "../../src/log.ts";

export interface Line {
  level: string;
  msg: string;
  [field: string]: unknown;
}

/** `lines` grows as the program logs. */
export function testLog(): { log: Logger; lines: Line[] } {
  const lines: Line[] = [];
  const log = createLogger({
    level: "debug",
    format: "json",
    write: (line) => void lines.push(JSON.parse(line)),
  });
  return { log, lines };
}
