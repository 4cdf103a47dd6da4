// A stream of bytes as JSON values, one a line.

/** A line that is longer is no notification of GNS3's. */
const LONGEST_LINE = 4_000_000;

/** Yields each line's value; a line that is no JSON is left out. Throws `RangeError` for a line without an end. */
export async function* jsonLines(bytes: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  let rest = "";
  for await (
    const text of bytes.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
  ) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    if (rest.length > LONGEST_LINE) throw new RangeError("A line is too long.");
    for (const line of lines) {
      let value: unknown;
      try {
        value = JSON.parse(line);
      } catch {
        continue;
      }
      yield value;
    }
  }
}
