// Everything that must be able to end a model's answer, in the whole server, with garbage collected while the answers are
// given. A program of its own, because only a process that was started so can collect at will. See `stop_test.ts`.
import { slow, type Step, text } from "../../src/practice/model_script.ts";
import { startChatServer, type Stream } from "../fakes/chat.ts";
import { collectGarbage, outcome } from "../fakes/collecting.ts";

const HANG: Step = [{ hang: true }];
/** Words for so long that something must end them. */
const DRIP = slow(3000, 15);

const server = await startChatServer({ config: { modelTimeout: 12, titleTimeout: 12 } });
const { model } = server;
const alice = server.chat("alice");

/** How a turn's stream ends. */
async function last(stream: Stream): Promise<string> {
  await stream.end();
  return stream.last.finish_reason ?? stream.last.code;
}

async function abort(stream: Stream): Promise<string> {
  await alice.json("POST", `/sessions/${stream.sessionId}/abort`);
  return await last(stream);
}

/** Starts a turn whose client wants it to end when it leaves; returns a function that leaves. */
async function leaving(key: string, stream: boolean): Promise<() => Promise<string>> {
  const client = new AbortController();
  const gone = fetch(`${alice.prefix}/stream`, {
    method: "POST",
    headers: { authorization: `Bearer ${alice.token}`, "content-type": "application/json" },
    body: JSON.stringify({ message: model.script(key, [DRIP]), stream, on_disconnect: "abort" }),
    signal: client.signal,
  }).then((response) => response.text()).catch(() => "left");
  await model.waitFor(() => model.requests(key).length === 1);
  return () => (client.abort(), gone);
}

/** Each starts a turn and returns what must come to an end. */
const scenarios: Record<string, (key: string) => Promise<() => Promise<unknown>>> = {
  async stop(key) {
    const stream = await alice.start(model.script(key, [DRIP]));
    return () => abort(stream);
  },
  async "stop before the first word"(key) {
    const stream = await alice.start(model.script(key, [HANG]));
    return () => abort(stream);
  },
  async silence(key) {
    const stream = await alice.start(model.script(key, [[...slow(100, 15).slice(0, -2), ...HANG]]));
    return () => last(stream);
  },
  async title(key) {
    const stream = await alice.start(model.script(key, [text("answer")], { title: DRIP }));
    return () => last(stream);
  },
  "client gone": (key) => leaving(key, true),
  "client gone, without a stream": (key) => leaving(key, false),
  async shutdown(key) {
    const stream = await alice.start(model.script(key, [DRIP]));
    return () => server.drain().then(() => last(stream));
  },
};

const ends: [name: string, key: string, end: () => Promise<unknown>][] = [];
for (const [at, [name, start]] of Object.entries(scenarios).entries()) {
  const key = `scenario-${at}`;
  ends.push([name, key, await start(key)]);
}
// Other turns meanwhile, as they make a server optimize its code.
for (let turn = 0; turn < 2; turn++) await alice.send(model.script("other", [slow(200, 1)]));
await collectGarbage();

const said: Record<string, string> = {};
for (const [name, key, end] of ends) {
  const how = await outcome(end(), 20_000);
  const open = () => model.requests(key).some(({ fate }) => fate === "open");
  await outcome(model.waitFor(() => !open()), 1000);
  said[name] = `${how}, ${open() ? "still asking the model" : model.requests(key).at(-1)!.fate}`;
}
console.log(JSON.stringify(said));
Deno.exit(0);
