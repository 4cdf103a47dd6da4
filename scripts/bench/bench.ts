// What every measurement is given, and the rows that it leaves behind.
import { ask, MARKERS, type Reading, timed } from "./client.ts";
import type { Model } from "./processes.ts";
import { round } from "./statistics.ts";

/** A copilot that is measured: this server, or the peer. */
export interface Target {
  name: "ours" | "peer";
  /** Address of the server. */
  url: string;
  /** The chat routes of the project. */
  chat: string;
  token: string;
  /** Undefined: its processor time and memory are not measured. */
  pid: number | undefined;
  marker: string;
  /** A cheap route. */
  health: string;
}

/** One line of the table. A figure that was not measured is left out. */
export interface Row {
  what: string;
  unit: string;
  ours: number;
  peer?: number;
  /** Reading the model's own stream, with the same request. */
  direct?: number;
  goal?: string;
  met?: boolean;
}

export interface Flags {
  quick: boolean;
  /** Also what takes the peer many minutes. */
  peerLong: boolean;
}

export class Bench {
  readonly rows: Row[] = [];
  /** Every single measurement, by name. */
  readonly samples: Record<string, unknown> = {};

  constructor(readonly model: Model, readonly targets: readonly Target[], readonly flags: Flags) {}

  get ours(): Target {
    return this.targets[0]!;
  }

  /** Notes a row and prints it. Goals are upper bounds, unless `least` is set. */
  say(row: Omit<Row, "goal" | "met">, goal?: number, least = false): void {
    const rounded = { ...row };
    for (const name of ["ours", "peer", "direct"] as const) {
      const value = row[name];
      if (value === undefined || Number.isNaN(value)) delete rounded[name];
      else rounded[name] = round(value, Math.abs(value) < 10 ? 2 : 1);
    }
    const entry: Row = rounded;
    if (goal !== undefined) {
      entry.goal = `${least ? "≥" : "≤"} ${goal}`;
      entry.met = least ? row.ours >= goal : row.ours <= goal;
    }
    this.rows.push(entry);
    console.log(lineOf(entry));
  }

  /** The very request that `target` made for its last message with this tag. */
  async requestOf(tag: string): Promise<unknown> {
    return (await ask(`${this.model.control}?tag=${encodeURIComponent(tag)}`, "")).value;
  }

  direct(request: unknown): Promise<Reading> {
    return timed(`${this.model.model}/chat/completions`, request, {}, MARKERS.model);
  }

  send(target: Target, message: string, sessionId?: string): Promise<Reading> {
    const { chat, token, marker } = target;
    return timed(`${chat}/stream`, messageOf(message, sessionId), {
      authorization: `Bearer ${token}`,
    }, marker);
  }

  /** A session with so many messages of one line; its id. Answers what each turn took, in milliseconds. */
  async grow(target: Target, sessionId: string, messages: number): Promise<number[]> {
    const times: number[] = [];
    for (let made = 0; made < messages; made += 2) {
      times.push((await this.send(target, "another line for the session [[words=12]]", sessionId)).total);
    }
    return times;
  }
}

export function messageOf(message: string, sessionId?: string) {
  return { message, ...(sessionId ? { session_id: sessionId } : {}) };
}

/** A row as a line for people. */
function lineOf({ what, unit, ours, peer, direct, goal, met }: Row): string {
  const parts = [what.padEnd(66), String(ours).padStart(8), unit.padEnd(3)];
  if (direct !== undefined) parts.push(`direct ${direct} (×${round(ours / direct, 2)})`);
  if (peer !== undefined) parts.push(`peer ${peer} (×${round(peer / ours, 1)})`);
  if (goal !== undefined) parts.push(`goal ${goal}: ${met ? "met" : "NOT MET"}`);
  return parts.join(" ");
}
