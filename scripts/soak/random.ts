// Chance that a seed repeats.

export type Random = () => number;

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** One of `choices`, each as likely as its weight says. */
export function choose<T>(random: Random, choices: readonly (readonly [weight: number, value: T])[]): T {
  let at = random() * choices.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, value] of choices) {
    at -= weight;
    if (at < 0) return value;
  }
  return choices.at(-1)![1];
}
