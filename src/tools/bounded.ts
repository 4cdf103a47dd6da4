// Keeps the answers of the skills tools short enough for a model: what is left out is named, so that it can be asked for.

/** Characters of JSON; about 6,000 tokens. */
export const MOST_CHARS = 24_000;

/** A text, cut at its end when it is too long. */
export function boundedText(text: string, most = MOST_CHARS): string {
  return text.length <= most
    ? text
    : `${text.slice(0, most)}\n… (${text.length - most} more characters are left out)`;
}

/** An object with as many of its values as fit, in their order; `left_out` names the others. */
export function boundedObject(value: Record<string, unknown>, most = MOST_CHARS): Record<string, unknown> {
  if (JSON.stringify(value).length <= most) return value;
  const kept: Record<string, unknown> = {};
  const leftOut: string[] = [];
  let room = most;
  for (const [key, one] of Object.entries(value)) {
    const size = JSON.stringify(one)?.length ?? 0;
    if (size <= room) {
      kept[key] = one;
      room -= size;
    } else leftOut.push(key);
  }
  return { ...kept, left_out: leftOut.slice(0, 100) };
}

/** Rows of a list: without descriptions when they are too long, and then not all. `more` counts those left out. */
export function boundedList<T extends { description?: string }>(
  rows: readonly T[],
  most = MOST_CHARS,
): { rows: Omit<T, "description">[]; more?: number } {
  if (JSON.stringify(rows).length <= most) return { rows: [...rows] };
  const short = rows.map(({ description: _, ...row }) => row);
  let size = 0;
  const fits = short.findIndex((row) => (size += JSON.stringify(row).length + 1) > most);
  return fits < 0 ? { rows: short } : { rows: short.slice(0, fits), more: short.length - fits };
}
