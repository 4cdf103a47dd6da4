// Paging and width of a console session: switched off for a visit, and put back as they were.
import type { CommandResult } from "./output.ts";
import type { SessionSettings } from "./platform.ts";

type Run = (line: string) => Promise<CommandResult>;

export class Settings {
  readonly #settings?: SessionSettings;
  #reset: string[] = [];

  constructor(settings?: SessionSettings) {
    this.#settings = settings;
  }

  /** A device that refuses these commands is used all the same: its pager is answered. */
  async set(mode: string, run: Run): Promise<void> {
    if (!this.#settings || !this.#exist(mode)) return;
    const { show, set, reset, usual } = this.#settings;
    const shown = show && show.pattern.exec((await run(show.command)).output);
    const values = shown ? shown.slice(1) : usual;
    const before = reset.map((line) => line.replace(/\$(\d)/g, (_, number) => values[number - 1] ?? ""));
    for (const [i, line] of set.entries()) {
      if (line === before[i]) continue;
      // Noted first: an abort in the middle must not leave it changed.
      this.#reset.push(before[i]!);
      await run(line);
    }
  }

  async reset(mode: string, run: Run): Promise<void> {
    if (!this.#exist(mode)) return;
    for (const line of this.#reset.splice(0)) await run(line);
  }

  #exist(mode: string): boolean {
    return !this.#settings?.modes || this.#settings.modes.includes(mode);
  }
}
