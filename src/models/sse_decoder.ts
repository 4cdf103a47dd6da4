// Server-sent events of a model's answer, bytes in and parsed JSON out. Made for speed and for servers that are not
// strict: CRLF, no space after `data:`, no blank line between events, chunks cut anywhere.
/** One event: its JSON value and its name ("" when it has none). */
export interface SseEvent {
  data: unknown;
  name: string;
}

/** Characters of one event, in one line or in many. */
const MAX_EVENT = 16 * 1024 * 1024;
const MAX_STRAY = 1024 * 1024;

/** Decodes one response. Neither function throws: events before a malformed one must not get lost. */
export interface SseDecoder {
  push(bytes: Uint8Array): SseEvent[];
  /** The events of a last line without an end. */
  end(): SseEvent[];
  /** The start of data that is not JSON, or too much for one event; nothing is decoded after it. */
  malformed?: string;
  /** `[DONE]` was read: the answer is over, whatever follows. */
  done: boolean;
  /** The data read last is not JSON yet: more was to come. */
  readonly incomplete: boolean;
  /** What was read beside events: a web page, or a plain JSON answer. */
  readonly stray: string;
}

export function sseDecoder(): SseDecoder {
  const utf8 = new TextDecoder();
  let rest = "";
  const pending = unfinished();
  let name = "";
  let stray = "";
  let afterCr = false;

  function line(text: string, out: SseEvent[]): void {
    if (text.startsWith("data:")) {
      const value = text.charCodeAt(5) === 32 ? text.slice(6) : text.slice(5);
      if (pending.size > 0) {
        const data = pending.add(value);
        if (data !== undefined) out.push({ data, name });
        else if (pending.size > MAX_EVENT) decoder.malformed = pending.start;
        return;
      }
      if (value.trim() === "") return;
      if (value.trim() === "[DONE]") {
        decoder.done = true;
        return;
      }
      try {
        out.push({ data: JSON.parse(value), name });
      } catch {
        pending.add(value);
      }
    } else if (text === "") {
      if (pending.size > 0) decoder.malformed = pending.start;
      name = "";
    } else if (text.startsWith("event:")) {
      name = text.slice(6).trim();
    } else if (!text.startsWith(":") && !text.startsWith("id:") && !text.startsWith("retry:")) {
      if (stray.length < MAX_STRAY) stray += text + "\n";
    }
  }

  const decoder: SseDecoder = {
    done: false,
    get incomplete() {
      return pending.size > 0;
    },
    get stray() {
      return stray;
    },
    push(bytes) {
      const out: SseEvent[] = [];
      let text = utf8.decode(bytes, { stream: true });
      if (afterCr && text.startsWith("\n")) text = text.slice(1);
      afterCr = text.endsWith("\r");
      if (text.includes("\r")) text = text.replaceAll(/\r\n?/g, "\n");
      let start = 0;
      let end = text.indexOf("\n");
      if (end < 0) {
        rest += text;
        if (rest.length > MAX_EVENT) decoder.malformed = rest.slice(0, 200);
        return out;
      }
      line(rest + text.slice(0, end), out);
      for (start = end + 1; !decoder.done && !decoder.malformed; start = end + 1) {
        end = text.indexOf("\n", start);
        if (end < 0) break;
        line(text.slice(start, end), out);
      }
      rest = text.slice(start);
      return out;
    },
    end() {
      const out: SseEvent[] = [];
      if (rest && !decoder.done) line(rest, out);
      rest = "";
      return out;
    },
  };
  return decoder;
}

/** The lines of an event so far, whose JSON is not complete. */
interface Unfinished {
  /** The value, when it is complete with this line; then nothing is held any more. */
  add(line: string): unknown;
  /** Characters held, and what a line costs beside them; 0 when there are none. */
  readonly size: number;
  /** The beginning, for a message. */
  readonly start: string;
}

/**
 * Holds the lines of one event. They are parsed when the last bracket is closed and not after each line, which would take
 * time quadratic in their number. What can never become JSON is only measured.
 */
function unfinished(): Unfinished {
  let lines: string[] = [];
  let size = 0;
  let depth = 0;
  let broken = false;

  /** Counts the line's brackets. A line break inside a string is no JSON, so a string never goes on in the next line. */
  function count(line: string): void {
    let inString = false;
    for (let at = 0; at < line.length; at++) {
      const code = line.charCodeAt(at);
      if (inString) {
        if (code === BACKSLASH) at++;
        else if (code === QUOTE) inString = false;
      } else if (code === QUOTE) inString = true;
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    }
    broken ||= inString || depth < 0;
  }

  function take(): unknown {
    try {
      const value: unknown = JSON.parse(lines.join("\n"));
      lines = [];
      size = depth = 0;
      return value;
    } catch {
      broken = true;
    }
  }

  return {
    get size() {
      return size;
    },
    get start() {
      return lines[0]?.slice(0, 200) ?? "";
    },
    add(line) {
      size += line.length + LINE_COST;
      if (broken) return undefined;
      lines.push(line);
      count(line);
      return depth === 0 && !broken ? take() : undefined;
    },
  };
}

/** So that not even the shortest lines take much more memory than their size says. */
const LINE_COST = 16;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
