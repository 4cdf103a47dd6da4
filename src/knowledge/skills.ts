// The skills of the process, as one set that is replaced as a whole: ours, with the skills folder over it.
import { AppError } from "../domain/error.ts";
import type { Logger } from "../log.ts";
import type { SkillFile } from "./document.ts";
import { readFolder } from "./folder.ts";
import { type Knowledge, type SkillSet, skillSet } from "./skill_set.ts";

export interface SkillsOptions {
  /** `--skills-dir`, a real path; empty: only what is embedded. */
  dir: string;
  /** The embedded files; loaded with the first use. */
  builtin(): Promise<readonly SkillFile[]>;
  /** Told of every file that was left out. */
  log: Pick<Logger, "warn">;
}

/** So many problems are logged one by one. */
const LOGGED = 20;

/** Whoever needs the skills for longer than a moment keeps the set that it got. */
export class Skills {
  readonly #options: SkillsOptions;
  #set: SkillSet | undefined;
  #loading: Promise<unknown> = Promise.resolve();

  constructor(options: SkillsOptions) {
    this.#options = options;
  }

  /** The set in use, read when it is first asked for. A folder that cannot be read then is one of its problems. */
  async current(): Promise<SkillSet> {
    if (this.#set) return this.#set;
    return await this.#next(async () =>
      this.#set ??= await this.#load().catch((error) => {
        if (!(error instanceof AppError)) throw error;
        const problem = "the skills folder cannot be read; only the embedded skills are used";
        return this.#from([], "builtin", [{ file: ".", problem }]);
      })
    );
  }

  /** The set in use, for who knows that it was read. */
  get loaded(): SkillSet {
    if (!this.#set) throw new AppError("internal", "The skills were used before they were read.");
    return this.#set;
  }

  /** Reads everything again. Throws `unavailable`, and keeps the set in use, when the folder cannot be read. */
  async reload(): Promise<SkillSet> {
    return await this.#next(async () => {
      const set = await this.#load();
      await set.knowledge();
      return this.#set = set;
    });
  }

  /** One after the other: a slow reading must not overwrite what a later one found. */
  #next(work: () => Promise<SkillSet>): Promise<SkillSet> {
    const mine = this.#loading.then(work);
    this.#loading = mine.catch(() => {});
    return mine;
  }

  async #load(): Promise<SkillSet> {
    const { dir } = this.#options;
    if (dir === "") return this.#from([], "builtin");
    const { files, problems } = await readFolder(dir);
    return this.#from(files, await hashOf(files), problems);
  }

  #from(folder: SkillFile[], version: string, problems: Knowledge["problems"] = []): SkillSet {
    const { builtin } = this.#options;
    return skillSet({ builtin, folder, version, problems, onParsed: (knowledge) => this.#tell(knowledge) });
  }

  #tell({ problems }: Knowledge): void {
    for (const { file, problem } of problems.slice(0, LOGGED)) {
      this.#options.log.warn("A part of the skills was left out.", { file, problem });
    }
    const rest = problems.length - LOGGED;
    if (rest > 0) this.#options.log.warn(`${rest} more parts of the skills were left out.`);
  }
}

async function hashOf(files: readonly SkillFile[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(files.map(({ path, text }) => [path, text])));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex().slice(0, 12);
}
