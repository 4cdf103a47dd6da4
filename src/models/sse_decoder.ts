// Server-sent events of a model's answer, bytes in and parsed JSON out. Made for speed and for servers that are not
// strict: CRLF, no space after `data:`, no blank line between events, chunks cut anywhere.
/** One event: its JSON value and its name ("" when it has none). */
export interface SseEvent {
  data: unknown;
  name: string;
}

const MAX_LINE = 16 * 1024 * 1024;
const MAX_STRAY = 1024 * 1024;

/** Decodes one response. Neither function throws: events before a malformed one must not get lost. */
export interface SseDecoder {
  push(bytes: Uint8Array): SseEvent[];
  /** The events of a last line without an end. */
  end(): SseEvent[];
  /** The start of data that is not JSON; nothing is decoded after it. */
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
  let pending = "";
  let name = "";
  let stray = "";
  let afterCr = false;

  function line(text: string, out: SseEvent[]): void {
    if (text.startsWith("data:")) {
      const value = text.charCodeAt(5) === 32 ? text.slice(6) : text.slice(5);
      const whole = pending ? `${pending}\n${value}` : value;
      if (whole.trim() === "[DONE]") {
        decoder.done = true;
        return;
      }
      if (whole.trim() === "") return;
      try {
        out.push({ data: JSON.parse(whole), name });
        pending = "";
      } catch {
        pending = whole;
      }
    } else if (text === "") {
      if (pending) decoder.malformed = pending.slice(0, 200);
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
      return pending !== "";
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
        if (rest.length > MAX_LINE) decoder.malformed = rest.slice(0, 200);
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
