// A right to a console that is proven when it is opened may be taken away while it is in use: it is proven again in time.
import type { Transport } from "./transport.ts";

/**
 * How long a proof counts, in milliseconds. A command may take half a minute more, so that nobody types, or reads what
 * is printed, for longer than a minute after GNS3 has taken the right from them.
 */
export const PROOF_MS = 25_000;

/** `transport`, into which nothing is typed once `prove` has thrown; what it throws is what writing throws. */
export function provenInTime(transport: Transport, prove: () => Promise<void>, everyMs: number): Transport {
  const writer = transport.writable.getWriter();
  // Whoever writes hears of it.
  writer.closed.catch(() => {});
  let proven = performance.now();
  const writable = new WritableStream<Uint8Array>({
    async write(bytes) {
      if (performance.now() - proven > everyMs) {
        await prove();
        proven = performance.now();
      }
      await writer.write(bytes);
    },
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
  });
  const { readable, sendCommand } = transport;
  return { readable, writable, ...(sendCommand ? { sendCommand } : {}), close: () => transport.close() };
}
