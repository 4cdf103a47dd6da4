// Patterns for commands as people shorten them: a device takes every beginning of a word that means only one thing.

/** The source of a pattern for `sh|ow`: `sh`, `sho` and `show`; a word without `|` is not shortened. */
export function word(spec: string): string {
  const [needed = "", rest = ""] = spec.split("|");
  return needed + [...rest].reduceRight((inner, char) => `(?:${char}${inner})?`, "");
}

/** Commands that begin with these words: `wr|ite er|ase` → `wr er`, `write erase` … */
export function starts(...specs: string[]): RegExp {
  const each = specs.map((spec) => spec.split(" ").map(word).join("\\s+"));
  return new RegExp(`^(?:${each.join("|")})(?=\\s|$)`, "i");
}

/** The whole command: one of these (`a|ll;b`), and then `rest`, the source of a pattern. */
export function whole(specs: string, rest = ""): RegExp {
  const each = specs.split(";").map((spec) => spec.split(" ").map(word).join("\\s+"));
  return new RegExp(`^(?:${each.join("|")})${rest}$`, "i");
}
