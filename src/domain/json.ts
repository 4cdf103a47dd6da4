// Bounds on JSON that somebody else made up: what is nested without end makes every function that walks through it fail.

/** Levels of nesting that nobody needs, and that everything here can still walk through. */
export const MOST_LEVELS = 64;

/** Whether a JSON value has arrays and objects nested more than `levels` deep. Looks no deeper than that itself. */
export function isDeeper(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}
