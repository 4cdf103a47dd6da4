// Chance that can be repeated: everything a fuzz test does follows from one printed seed.

export interface Chance {
  /** A whole number from 0 up to and without `below`. */
  int(below: number): number;
  /** True in `percent` of all cases. */
  maybe(percent: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** `make` called up to `most` times, at least `least` times. */
  some<T>(least: number, most: number, make: (at: number) => T): T[];
}

/** The same numbers for the same seed (mulberry32). */
export function chance(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number) => Math.floor(next() * below);
  return {
    int,
    maybe: (percent) => int(100) < percent,
    pick: (list) => list[int(list.length)]!,
    some: (least, most, make) => Array.from({ length: least + int(most - least + 1) }, (_, at) => make(at)),
  };
}

/** `FUZZ_SEED` or a new one, and how many cases there are (`FUZZ_CASES`). */
export function fuzzing(cases: number): { seed: number; cases: number } {
  const given = Number(Deno.env.get("FUZZ_SEED") ?? NaN);
  const seed = Number.isInteger(given) ? given : crypto.getRandomValues(new Uint32Array(1))[0]!;
  return { seed, cases: Number(Deno.env.get("FUZZ_CASES") ?? cases) };
}

/** Runs a case; a failure names what repeats it. */
export async function fuzzCase(
  seed: number,
  at: number,
  run: (chance: Chance) => Promise<void>,
): Promise<void> {
  try {
    // Each case has numbers of its own, so that one can be repeated alone.
    await run(chance(seed + at));
  } catch (error) {
    throw new Error(`FUZZ_SEED=${seed + at} FUZZ_CASES=1 repeats this`, { cause: error });
  }
}

/** Texts that have broken programs. */
export const ODD_TEXTS: readonly string[] = [
  "",
  " ",
  "\0",
  "\u0007\u001b[31m",
  "\u2028\u2029\u0085",
  "data: [DONE]\n\n",
  "\r\n\r\n",
  "😀",
  "👩‍👩‍👧‍👦",
  "\ud83d",
  "\ude00\ud83d",
  "ﷺ",
  "a\u0301".repeat(50),
  "<think>",
  "</think>",
  "<|endoftext|>",
  '{"a":',
  "__proto__",
  "'; DROP TABLE chat_sessions; --",
  "%s%n../../etc/passwd",
  "x".repeat(5000),
  "日本語".repeat(300),
];

/** A JSON value of any kind, now and then nested. */
export function anyValue(chance: Chance, depth = 3): unknown {
  const { int, pick, some } = chance;
  switch (int(depth > 0 ? 12 : 9)) {
    case 0:
      return null;
    case 1:
      return chance.maybe(50);
    case 2:
      return pick([0, -1, 1, 1.5, -0, 2 ** 31, 2 ** 53, 1e21, 1e308, -1e308, 5e-324]);
    case 3:
      return int(1000);
    case 9:
      return some(0, 4, () => anyValue(chance, depth - 1));
    case 10:
    case 11:
      return Object.fromEntries(
        some(0, 4, () => [pick(ODD_TEXTS).slice(0, 20), anyValue(chance, depth - 1)]),
      );
    default:
      return pick(ODD_TEXTS);
  }
}
