// Kills the server at random moments of turns, again and again, and looks at what is left.
import { join } from "node:path";
import { type PracticeGns3, startPracticeGns3 } from "../../src/practice/gns3_server.ts";
import { type PracticeModel, startPracticeModel } from "../../src/practice/model.ts";
import { checkDatabase } from "../../src/storage/check.ts";
import { type Running, startServer } from "../bench/processes.ts";
import { kinds, sayWith } from "./kinds.ts";
import { type Random, random } from "./random.ts";
import { ask, type Client, type SeenTurn, startTurn } from "./turn.ts";

export interface KillOptions {
  rounds: number;
  seed: number;
  /** How the server is started. */
  command: string[];
  /** Told of every tenth round. */
  log(line: string): void;
}

/** What was counted; `faults` are sentences, none when all is well. */
export interface KillReport {
  kills: number;
  /** Kills by the last event that a client had seen; several turns may run at a time. */
  moments: Record<string, number>;
  finished: number;
  cut: number;
  lost: number;
  corrupt: number;
  faults: string[];
}

/** The longest time, in milliseconds, that a turn is given before the kill, and a server before one in its start. */
const LONGEST = { turn: 700, start: 400 };
const TURNS_AT_ONCE = 3;
/** A session of more turns is left alone, so that its history fits one page. */
const TURNS_PER_SESSION = 40;

/** Runs the rounds, each with a new start of the server on what the last one left. */
export async function killRounds(options: KillOptions): Promise<KillReport> {
  const gns3 = await startPracticeGns3();
  const model = await startPracticeModel();
  const state = await Deno.makeTempDir();
  try {
    return await new Rounds(options, gns3, model, state).run();
  } finally {
    await model.close();
    await gns3.close();
    await Deno.remove(state, { recursive: true });
  }
}

class Rounds {
  readonly #random: Random;
  /** The turns of each session whose end a client has seen. */
  readonly #sessions = new Map<string, SeenTurn[]>();
  readonly #report: KillReport = {
    kills: 0,
    moments: {},
    finished: 0,
    cut: 0,
    lost: 0,
    corrupt: 0,
    faults: [],
  };
  #turns = 0;

  constructor(
    private readonly options: KillOptions,
    private readonly gns3: PracticeGns3,
    private readonly model: PracticeModel,
    private readonly state: string,
  ) {
    this.#random = random(options.seed);
  }

  async run(): Promise<KillReport> {
    let server = await this.#start();
    for (let round = 1; round <= this.options.rounds; round++) {
      const cut = await this.#round(server);
      this.#check(round);
      if (this.#random.next() < 0.2) await this.#killInStart();
      server = await this.#start();
      await this.#lookAfter(this.#clientOf(server), cut, round);
      if (round % 10 > 0) continue;
      const { finished, lost, corrupt } = this.#report;
      this.options.log(`round ${round}: ${finished} turns finished, ${lost} lost, ${corrupt} corrupt`);
    }
    await server.stop();
    return this.#report;
  }

  /** Some turns at a time, and a kill in the middle; resolves to the turns that were cut off. */
  async #round(server: Running<string>): Promise<SeenTurn[]> {
    const client = this.#clientOf(server);
    const turns = this.#chosenSessions().map((id) => startTurn(client, this.#say(), id));
    await new Promise((resolve) => setTimeout(resolve, this.#random.below(LONGEST.turn)));
    for (const { seen } of turns) {
      const moment = seen.end === undefined ? seen.last || "nothing" : "the end";
      this.#report.moments[moment] = (this.#report.moments[moment] ?? 0) + 1;
    }
    await server.kill();
    this.#report.kills++;
    await Promise.all(turns.map(({ over }) => over));
    const all = turns.map(({ seen }) => seen);
    for (const seen of all) if (seen.end !== undefined) this.#note(seen);
    return all.filter(({ end }) => end === undefined);
  }

  /** A server that is killed before it listens. */
  async #killInStart(): Promise<void> {
    const starting = this.#start({ killAfter: this.#random.below(LONGEST.start) });
    await starting.then((server) => server.kill(), () => {});
    this.#report.kills++;
    this.#report.moments["its start"] = (this.#report.moments["its start"] ?? 0) + 1;
  }

  /** Every session that was ever used is whole, and one that was cut off goes on. */
  async #lookAfter(client: Client, cut: SeenTurn[], round: number): Promise<void> {
    this.#report.cut += cut.length;
    for (const { sessionId } of cut) {
      const next = startTurn(client, this.#say("text"), sessionId);
      await next.over;
      if (next.seen.end === "stop") this.#note(next.seen);
      else this.#fault(round, `the turn after a kill ended with ${next.seen.end ?? "nothing"}`);
    }
    for (const [sessionId, turns] of this.#sessions) {
      const { messages } = await ask(client, `/sessions/${sessionId}/history?limit=1000`);
      const session = await ask(client, `/sessions/${sessionId}`);
      if (session.message_count !== messages.length) {
        this.#fault(round, `${session.message_count} messages are counted, ${messages.length} are there`);
      }
      const lost = turns.filter((turn) => !holds(messages, turn));
      this.#report.lost += lost.length;
      for (const turn of lost) this.#fault(round, `a finished turn is lost: ${turn.message}`);
      if (unanswered(messages) && !cut.some((turn) => turn.sessionId === sessionId)) {
        this.#fault(round, "a call has no result");
      }
    }
  }

  #check(round: number): void {
    const file = join(this.gns3.project(this.gns3.projectId).path, "gns3-copilot", "copilot_checkpoints.db");
    try {
      Deno.statSync(file);
    } catch {
      // Killed before it was made.
      return;
    }
    const { problems } = checkDatabase(file);
    if (problems.length > 0) this.#report.corrupt++;
    for (const problem of problems) this.#fault(round, problem);
  }

  #note(seen: SeenTurn): void {
    this.#report.finished++;
    this.#sessions.set(seen.sessionId, [...this.#sessions.get(seen.sessionId) ?? [], seen]);
  }

  #fault(round: number, sentence: string): void {
    this.#report.faults.push(`round ${round}: ${sentence}`);
  }

  #chosenSessions(): string[] {
    const open = [...this.#sessions].filter(([, turns]) => turns.length < TURNS_PER_SESSION).map(([id]) =>
      id
    );
    const chosen = new Set<string>();
    for (let left = 1 + this.#random.below(TURNS_AT_ONCE); left > 0; left--) {
      chosen.add(
        open.length === 0 || this.#random.next() < 0.3 ? crypto.randomUUID() : this.#random.pick(open),
      );
    }
    return [...chosen];
  }

  /** A message that makes the model play a script of this kind, or of any. */
  #say(kind = this.#random.pick(kinds)): string {
    return sayWith(this.model, kind, `turn-${++this.#turns}`);
  }

  #clientOf({ info }: Running<string>): Client {
    return { url: `${info}/v3/projects/${this.gns3.projectId}/chat`, token: this.gns3.tokens.alice! };
  }

  #start(how?: { killAfter: number }): Promise<Running<string>> {
    const lab = { gns3: this.gns3.url, projectsDir: this.gns3.projectsDir, model: this.model.url };
    return startServer(this.options.command, lab, this.state, how);
  }
}

interface Message {
  role: string;
  content: string;
  tool_call_id?: string;
  tool_calls?: { id: string }[];
}

/** Whether the history has the turn's question, and after it what the client has read. */
function holds(messages: readonly Message[], { message, text }: SeenTurn): boolean {
  const at = messages.findIndex(({ role, content }) => role === "user" && content === message);
  if (at < 0) return false;
  const next = messages.findIndex(({ role }, i) => i > at && role === "user");
  const answer = messages.slice(at + 1, next < 0 ? undefined : next).filter(({ role }) =>
    role === "assistant"
  );
  return answer.map(({ content }) => content).join("") === text;
}

function unanswered(messages: readonly Message[]): boolean {
  const answered = new Set(messages.map(({ tool_call_id }) => tool_call_id));
  return messages.some(({ tool_calls = [] }) => tool_calls.some(({ id }) => !answered.has(id)));
}
