// Times as the API answers them. A database of the Python copilot holds other spellings of them.

/** `value` as ISO 8601 in UTC with milliseconds and Z; null for what is no time. Without a zone it is UTC, as in SQLite. */
export function isoTime(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const parts = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?\s*(Z|[+-]\d\d:?\d\d)?$/i.exec(
    value.trim(),
  );
  if (!parts) return null;
  const [, day, minute = "00:00", second = ":00", zone = "Z"] = parts;
  const time = new Date(`${day}T${minute}${second}${zone.toUpperCase()}`);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
