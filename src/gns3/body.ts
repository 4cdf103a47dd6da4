// The text of an answer, up to a size.

/** No answer of GNS3's comes near it; what is larger is not one, and must not fill the memory. In bytes. */
const MOST = 64 * 1024 * 1024;

/** An answer is larger than any that GNS3 gives. */
export class AnswerTooLarge extends Error {
  override readonly name = "AnswerTooLarge";
}

/** The whole text of an answer. Throws `AnswerTooLarge` over `most` bytes, and ends the answer then. */
export async function textOf(response: Response, most = MOST): Promise<string> {
  // Deno reads a whole answer several times as fast as pieces of it, and of one with a length never more than that.
  if (knownLength(response) <= most) return await response.text();
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let size = 0;
  for await (const bytes of response.body ?? []) {
    size += bytes.length;
    if (size > most) throw new AnswerTooLarge(`The answer is larger than ${most} bytes.`);
    parts.push(decoder.decode(bytes, { stream: true }));
  }
  parts.push(decoder.decode());
  return parts.join("");
}

/**
 * In bytes; NaN when it is only known at the end. The length of a compressed answer says nothing of what it becomes, and
 * one that comes in chunks ends with the last of them, whatever length it claims.
 */
function knownLength({ headers }: Response): number {
  if (headers.has("content-encoding") || headers.has("transfer-encoding")) return NaN;
  return Number(headers.get("content-length") ?? NaN);
}
