// Finds what somebody means by a name: exactly, by another name of the same thing, or by one that is nearly right.
import { distance } from "../suggest.ts";

/** Something that can be asked for. */
export interface Named<T> {
  key: string;
  aliases: readonly string[];
  value: T;
}

/** `guess` is true when the name was not right: whoever asks should be told what was understood. */
export interface Found<T> {
  key: string;
  value: T;
  guess: boolean;
}

/** The thing that `name` means, or undefined. Case, blanks, dashes and underscores make no difference. */
export function lookUp<T>(name: string, things: readonly Named<T>[]): Found<T> | undefined {
  const wanted = plain(name);
  if (wanted === "") return undefined;
  const found = (thing: Named<T> | undefined, guess: boolean) =>
    thing && { key: thing.key, value: thing.value, guess };
  const known = (test: (key: string) => boolean) =>
    things.find(({ key }) => test(plain(key))) ??
      things.find(({ aliases }) => aliases.some((one) => test(plain(one))));
  const exact = known((key) => key === wanted);
  if (exact) return found(exact, false);
  // `ospfv2 neighbors` is about ospf, `bgp4` about bgp.
  const longest =
    things.flatMap((thing) => [thing.key, ...thing.aliases].map((key) => ({ thing, key: plain(key) })))
      .filter(({ key }) => key.length >= 3 && wanted.includes(key)).sort((a, b) =>
        b.key.length - a.key.length
      )[0];
  if (longest) return found(longest.thing, true);
  const near = things.flatMap(({ key, aliases }) => [key, ...aliases].map(plain)).find((key) =>
    isTypo(wanted, key)
  );
  return near === undefined ? undefined : found(known((key) => key === near), true);
}

/** Short names are near each other without being meant: EIGRP is no misspelled eBGP. */
function isTypo(typed: string, name: string): boolean {
  const shorter = Math.min(typed.length, name.length);
  if (shorter < 3) return false;
  const letters = (word: string) => [...word].sort().join("");
  return letters(typed) === letters(name) || distance(typed, name) <= Math.max(1, Math.floor(shorter / 4));
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_.\/-]+/g, "");
}
