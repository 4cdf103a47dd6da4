// Paging and width of a console session: left alone until they are in the way, and put back as they were.
import type { CommandResult } from "./output.ts";
import type { SessionSettings } from "./platform.ts";

type Run = (line: string) => Promise<CommandResult>;

/** Prompts and lines that are this long together fit every terminal. */
const USUAL_WIDTH = 78;

export class Settings {
  readonly #settings: SessionSettings;
  readonly #done = new Set<"paging" | "width">();
  readonly #undo: string[] = [];

  constructor(settings: SessionSettings = {}) {
    this.#settings = settings;
  }

  /** Switches paging off after a first output that came in pages; `lines` is how many a page had. */
  async paged(mode: string, lines: number, run: Run): Promise<void> {
    const { paging } = this.#settings;
    if (paging) await this.#change("paging", mode, paging.off, paging.on.replace("$1", String(lines)), run);
  }

  /** Widens the terminal before a line that it would not show whole. */
  async typing(mode: string, characters: number, run: Run): Promise<void> {
    const { width } = this.#settings;
    if (width && characters > USUAL_WIDTH) await this.#change("width", mode, width.wide, width.usual, run);
  }

  /** A device that refuses these commands is used all the same. */
  async reset(mode: string, run: Run): Promise<void> {
    if (!this.#exists(mode)) return;
    for (const line of this.#undo.splice(0)) await run(line);
  }

  async #change(what: "paging" | "width", mode: string, line: string, undo: string, run: Run): Promise<void> {
    if (this.#done.has(what) || !this.#exists(mode)) return;
    // Noted first: an abort in the middle must not leave it changed.
    this.#done.add(what);
    this.#undo.push(undo);
    const { failed } = await run(line);
    if (failed) this.#undo.pop();
  }

  #exists(mode: string): boolean {
    return !this.#settings.modes || this.#settings.modes.includes(mode);
  }
}
