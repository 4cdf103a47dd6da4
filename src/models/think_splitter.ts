// Tells a local model's inline `<think>…</think>` from its answer. Only a block at the very start counts, so that an
// answer that speaks about the tag stays whole.

const OPEN = ["<think>", "<thinking>"];

/** Characters, blanks mostly, that may come before it is clear whether there is a tag. */
const MOST_HELD = 1000;

interface Piece {
  text?: string;
  reasoning?: string;
}

/** A splitter for one answer: `push` takes the next text; `end` gives what was held back. */
export function thinkSplitter(): { push(text: string): Piece[]; end(): Piece[] } {
  let state: "start" | "thinking" | "after" | "answer" = "start";
  let close = "";
  let held = "";

  function push(text: string): Piece[] {
    if (state === "answer") return [{ text }];
    held += text;
    if (state === "start") {
      const begun = held.trimStart();
      const tag = OPEN.find((open) => begun.startsWith(open));
      if (tag) {
        state = "thinking";
        close = tag.replace("<", "</");
        held = begun.slice(tag.length);
      } else if (held.length < MOST_HELD && OPEN.some((open) => open.startsWith(begun))) {
        return [];
      } else {
        return release();
      }
    }
    return state === "thinking" ? thinking() : after();
  }

  function thinking(): Piece[] {
    const at = held.indexOf(close);
    if (at >= 0) {
      const reasoning = held.slice(0, at);
      held = held.slice(at + close.length);
      state = "after";
      return reasoning ? [{ reasoning }, ...after()] : after();
    }
    const keep = partialEnd(held, close);
    const reasoning = held.slice(0, held.length - keep);
    held = held.slice(held.length - keep);
    return reasoning ? [{ reasoning }] : [];
  }

  /** The blank lines between the block and the answer belong to neither. */
  function after(): Piece[] {
    held = held.trimStart();
    return held ? release() : [];
  }

  function release(): Piece[] {
    state = "answer";
    const text = held;
    held = "";
    return text ? [{ text }] : [];
  }

  return {
    push,
    end() {
      if (state === "thinking") return held ? [{ reasoning: held }] : [];
      return state === "answer" ? [] : release();
    },
  };
}

/** How many characters at the end of `text` could be the beginning of `tag`. */
function partialEnd(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) {
    if (tag.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
