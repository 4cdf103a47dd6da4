// Keeps the part of a program's output that was asked for: all of it up to a size, or its first or last lines.

export interface KeeperOptions {
  first?: number;
  last?: number;
  /** Lines at the start that are names of columns: `last` keeps them too, and they are not counted. */
  header: number;
  /** Characters that are kept. */
  most: number;
}

export class LineKeeper {
  readonly #options: KeeperOptions;
  #lines: string[] = [];
  #head: string[] = [];
  #rest = "";
  #kept = 0;
  #cut = false;
  #full = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /** Nothing that comes later will be kept. */
  get full(): boolean {
    return this.#full;
  }

  /** Takes the next text; false when it needs no more. */
  add(text: string): boolean {
    if (this.#full) return false;
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) {
      this.#take(line);
      if (this.#full) return false;
    }
    // One endless line must not fill the memory either.
    if (this.#rest.length > this.#options.most) {
      this.#take(this.#rest);
      this.#rest = "";
    }
    return !this.#full;
  }

  end(): { output: string; lines: number; outputCut: boolean } {
    if (this.#rest !== "" && !this.#full) this.#take(this.#rest);
    const all = [...this.#head, ...this.#lines];
    const lines = this.#lines.filter((line) => line.trim() !== "").length;
    return { output: all.join("\n").trimEnd(), lines, outputCut: this.#cut };
  }

  #take(line: string): void {
    const { first, last, header, most } = this.#options;
    if (this.#head.length < header) {
      this.#head.push(line.slice(0, most));
      return;
    }
    this.#lines.push(line.slice(0, most));
    this.#kept += line.length + 1;
    if (last !== undefined) {
      while (this.#lines.length > last) this.#drop();
      while (this.#kept > most && this.#lines.length > 1) {
        this.#drop();
        this.#cut = true;
      }
      return;
    }
    if (this.#kept > most) {
      this.#cut = true;
      this.#full = true;
    } else if (this.#lines.length === first) this.#full = true;
  }

  #drop(): void {
    this.#kept -= this.#lines.shift()!.length + 1;
  }
}
