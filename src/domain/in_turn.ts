// Keeps many who become ready at the same moment (a class that is told to begin) from holding up everything else: each
// goes on in a turn of the event loop of its own, and those who have got further go first.

/** `start`: nothing was done yet. `further`: somebody waits for the end of it already. */
export type Stage = "start" | "further";

const waiting: Record<Stage, (() => void)[]> = { start: [], further: [] };
/** Somebody has gone on in this turn of the event loop. */
let taken = false;

/** To be awaited before a millisecond of work or more. Resolves at once for the first in a turn of the event loop. */
export function inTurn(stage: Stage): Promise<void> {
  if (taken) return new Promise((resolve) => waiting[stage].push(resolve));
  taken = true;
  setImmediate(next);
  return Promise.resolve();
}

/** One by one: what is woken together runs together, before anything else. */
function next(): void {
  const go = waiting.further.shift() ?? waiting.start.shift();
  taken = go !== undefined;
  if (!go) return;
  setImmediate(next);
  go();
}
