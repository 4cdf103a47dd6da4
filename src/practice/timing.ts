// How long things take on the practice devices; all values are milliseconds.

export interface Timing {
  /** Between two probes of a PC's ping. */
  pingInterval: number;
  /** Until a PC gives up waiting for an answer. */
  replyTimeout: number;
  /** Until a host gives up looking for a neighbour. */
  arpTimeout: number;
  /** The check for duplicate addresses after `ip …` on a PC. */
  addressCheck: number;
  /** Until a router waits for one probe of its ping or traceroute in vain. */
  routerTimeout: number;
  /** From switching a router on to its "Press RETURN". */
  routerBoot: number;
  /** How long a console holds what a client types when that client leaves a telnet question unanswered. */
  negotiation: number;
}

/** As on real devices. */
export const REAL_TIMING: Timing = {
  pingInterval: 1000,
  replyTimeout: 1000,
  arpTimeout: 3000,
  addressCheck: 3000,
  routerTimeout: 2000,
  routerBoot: 20_000,
  negotiation: 1100,
};

/** Short, for the demo and for tests. The console still holds input, so that a client that ignores telnet shows. */
export const QUICK_TIMING: Timing = {
  pingInterval: 40,
  replyTimeout: 40,
  arpTimeout: 120,
  addressCheck: 100,
  routerTimeout: 40,
  routerBoot: 150,
  negotiation: 1100,
};

/** Waits; ends early by throwing the signal's reason. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
