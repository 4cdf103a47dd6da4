// A request as JSON text. A conversation is sent again with every call: what was written once is not written again.

/** A message of this many characters or more is written anew each time, which takes no longer than keeping it is worth. */
const MOST_KEPT = 4096;

const kept = new WeakMap<object, string>();

/** As `JSON.stringify`. The elements of `messages`, and `tools`, must not change any more. */
export function requestText(body: Record<string, unknown>): string {
  const fields: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    const text = name === "messages" && Array.isArray(value)
      ? `[${value.map((message) => textOf(message, MOST_KEPT)).join(",")}]`
      : name === "tools"
      ? textOf(value)
      : JSON.stringify(value);
    if (text !== undefined) fields.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${fields.join(",")}}`;
}

function textOf(value: unknown, most = Infinity): string | undefined {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const known = kept.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(value);
  if (text.length <= most) kept.set(value, text);
  return text;
}
