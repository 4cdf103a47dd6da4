// Finds what somebody who mistyped a name may have meant.

/** How many letters must be changed, added or left out to turn `a` into `b`. */
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/** The known name nearest to `name`, or undefined when none is near enough to be meant. */
export function suggest(name: string, known: Iterable<string>): string | undefined {
  const ranked = [...known]
    .map((candidate) => ({ candidate, far: distance(name, candidate) }))
    .sort((a, b) => a.far - b.far);
  const [best] = ranked;
  if (best && best.far <= Math.ceil(best.candidate.length / 3)) return best.candidate;
  return ranked.find(({ candidate }) => name.length >= 3 && candidate.startsWith(name))?.candidate;
}
