// How much of one answer is taken. No model has this much to say: one that sends more has lost its way, and would fill
// the memory and the disk.
import type { ModelDelta } from "./delta.ts";
import { ModelError } from "./model_error.ts";

const MILLION = 1_000_000;

/** Characters (UTF-16), calls, and pieces of an answer, however small. */
export const ANSWER_LIMITS = {
  text: 16 * MILLION,
  reasoning: 16 * MILLION,
  /** Of one call, and of all calls of an answer. */
  callArguments: 2 * MILLION,
  allArguments: 8 * MILLION,
  calls: 128,
  pieces: MILLION / 2,
};

/** The failure of a model that does not stop. `after` says where it was cut off, such as "128 tool calls". */
export function endless(after: string): ModelError {
  return new ModelError("endless", after);
}

/** Measures one answer. */
export interface AnswerMeter {
  /** The part of a batch that is within the limits. */
  take(batch: ModelDelta[]): ModelDelta[];
  /** Why nothing more is taken. */
  over?: ModelError;
}

export function answerMeter(limits: typeof ANSWER_LIMITS = ANSWER_LIMITS): AnswerMeter {
  const left = { text: limits.text, reasoning: limits.reasoning };
  let args = 0;
  let pieces = 0;

  /** The piece, or what of it fits. */
  function measured(delta: ModelDelta): ModelDelta {
    pieces += 1 + (delta.toolCalls?.length ?? 0);
    if (pieces > limits.pieces) meter.over = endless(`${limits.pieces.toLocaleString("en")} pieces`);
    for (const call of delta.toolCalls ?? []) args += call.args?.length ?? 0;
    if (args > limits.allArguments) meter.over = endless(inMillions(limits.allArguments, "tool calls"));
    for (const kind of ["text", "reasoning"] as const) {
      const text = delta[kind];
      if (text === undefined) continue;
      if (text.length > left[kind]) {
        meter.over = endless(inMillions(limits[kind], kind));
        delta = { ...delta, [kind]: text.slice(0, left[kind]) };
      }
      left[kind] -= Math.min(text.length, left[kind]);
    }
    return delta;
  }

  const meter: AnswerMeter = {
    take(batch) {
      const kept: ModelDelta[] = [];
      for (const delta of batch) {
        if (meter.over) break;
        kept.push(measured(delta));
      }
      return kept;
    },
  };
  return meter;
}

/** "4 million characters of text" */
export function inMillions(characters: number, of: string): string {
  return `${characters / MILLION} million characters of ${of}`;
}
