// What `joinSignals` promises, with garbage collected between making a signal and aborting it. See `signals_test.ts`.
import { joinSignals } from "../../src/domain/signals.ts";
import { collectGarbage, outcome } from "../fakes/collecting.ts";

/** Resolves when the signal aborts; nothing else holds on to the signal. */
const aborted = (signal: AbortSignal) =>
  new Promise<string>((resolve) =>
    signal.addEventListener("abort", () => resolve(`aborted: ${signal.reason}`))
  );

const listener = new AbortController();
const nested = new AbortController();
const request = new AbortController();
const silent = Deno.serve({ port: 0, onListen: () => {} }, () => new Promise<Response>(() => {}));
const other = () => new AbortController().signal;
const waits = {
  listener: aborted(joinSignals([listener.signal, other()]).signal),
  limit: aborted(joinSignals([other()], { ms: 400, reason: () => "too late" }).signal),
  nested: aborted(joinSignals([joinSignals([nested.signal, other()]).signal, other()]).signal),
  request: fetch(`http://127.0.0.1:${silent.addr.port}`, {
    signal: joinSignals([request.signal, other()], { ms: 60_000 }).signal,
  }),
};
await collectGarbage();
for (const controller of [listener, nested]) controller.abort("stop");
request.abort(new Error("stop"));
const said = await Promise.all(
  Object.entries(waits).map(async ([name, wait]) => [name, await outcome(wait)]),
);
console.log(JSON.stringify(Object.fromEntries(said)));
Deno.exit(0);
