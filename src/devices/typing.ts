// Types a line so that it cannot mix with what somebody else types: return is pressed only when the echo is right.
import { type Channel, ChannelTimeout } from "./channel.ts";
import { echoState, endsWithLine } from "./echo.ts";

/** `shown`: it stands on the line, whole and alone. Otherwise nothing of it was left there. */
export type Echo = "shown" | "disturbed" | "silent";

export interface TypingHelp {
  prompt(): string;
  /** Waits for silence and tells what stands on the line then. */
  stands(limitMs: number): Promise<"prompt" | "nothing" | "text">;
  clear(): Promise<void>;
  enter(): Promise<void>;
  /** Called when somebody else typed. */
  disturbed(): void;
  signal: AbortSignal;
}

const TRIES = 3;
const ECHO_MS = 3_000;
/** Some consoles are that slow. */
const ECHO_CHARACTER_MS = 100;
const OTHERS_MS = 5_000;
const FEED_QUIET_MS = 60;
const AT_ONCE = { value: true, quietMs: 0 };

/** Types `line` without return. Throws `ChannelClosed`, or the signal's reason. */
export async function typeLine(channel: Channel, line: string, help: TypingHelp): Promise<Echo> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    if (channel.size > 0 && !await free(channel, help)) {
      help.disturbed();
      return "disturbed";
    }
    await channel.send(line);
    const echo = await echoOf(channel, line, help);
    const came = channel.take();
    if (echo !== "disturbed") {
      if (echo === "silent") await help.clear();
      return echo;
    }
    // A log line that came between brings a line end; keys do not.
    if (!came.includes("\n")) help.disturbed();
    await help.clear();
    channel.take();
    await channel.quiet(700, { limitMs: OTHERS_MS, signal: help.signal });
    await help.enter();
    if (!await free(channel, help)) break;
  }
  return "disturbed";
}

/**
 * Whether the line is ours, after something came that we did not cause: a log line, or a person. Where it is not, what
 * stands on it is kept, so that the next command does not take the line for free.
 */
async function free(channel: Channel, help: TypingHelp): Promise<boolean> {
  let stands = await help.stands(OTHERS_MS);
  if (stands === "nothing") {
    // A log line went over the prompt, and not every device draws it again.
    await help.enter();
    stands = await help.stands(OTHERS_MS);
  }
  if (stands !== "prompt") channel.takeLines();
  else channel.take();
  return stands === "prompt";
}

/**
 * Types a line of input that a running command reads, as a banner's text, and presses return. Throws `ChannelClosed`, or
 * the signal's reason. A console that does not show the line is given time and gets the return all the same.
 */
export async function feedLine(
  channel: Channel,
  line: string,
  lineEnding: string,
  signal: AbortSignal,
): Promise<void> {
  await channel.quiet(FEED_QUIET_MS, { limitMs: ECHO_MS, signal });
  channel.take();
  if (line) {
    await channel.send(line);
    const limits = { limitMs: ECHO_MS, signal };
    try {
      await channel.settle((tail) => endsWithLine(tail, line) ? AT_ONCE : undefined, limits);
    } catch (error) {
      if (!(error instanceof ChannelTimeout)) throw error;
    }
    channel.take();
  }
  await channel.send(lineEnding);
}

async function echoOf(channel: Channel, line: string, help: TypingHelp): Promise<Echo> {
  try {
    return await channel.settle<Echo>((tail) => {
      const state = echoState(tail, line, help.prompt());
      if (state === "coming") return undefined;
      return state === "shown" ? { value: "shown", quietMs: 0 } : { value: "disturbed", quietMs: 400 };
    }, { limitMs: ECHO_MS + line.length * ECHO_CHARACTER_MS, signal: help.signal });
  } catch (error) {
    if (!(error instanceof ChannelTimeout)) throw error;
    return channel.size === 0 ? "silent" : "disturbed";
  }
}
