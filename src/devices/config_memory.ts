// The configurations that devices had when they were last compared, in memory only: they hold secrets.

/** A configuration and when it was read. */
export interface Remembered {
  text: string;
  at: number;
}

const MOST = 300;
const LONGEST = 500_000;

export class ConfigMemory {
  readonly #last = new Map<string, Remembered>();

  /** What the device had the last time; undefined when it was never read, or too much was read since. */
  recall(projectId: string, nodeId: string): Remembered | undefined {
    return this.#last.get(`${projectId}/${nodeId}`);
  }

  remember(projectId: string, nodeId: string, config: Remembered): void {
    const key = `${projectId}/${nodeId}`;
    this.#last.delete(key);
    if (config.text.length <= LONGEST) this.#last.set(key, config);
    for (const oldest of this.#last.keys()) {
      if (this.#last.size <= MOST) break;
      this.#last.delete(oldest);
    }
  }
}
