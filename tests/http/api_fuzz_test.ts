// Whatever a client sends to whatever route: an answer that the API's document knows, never a fault of the server, and the
// next request is answered as before. The failing case is repeated with the seed that it prints.
import assert from "node:assert/strict";
import { API_KEY, type Chat, type ChatServer, startChatServer } from "../fakes/chat.ts";
import { anyValue, type Chance, fuzzCase, fuzzing, ODD_TEXTS } from "../fakes/fuzz.ts";

type Json = Record<string, unknown>;
interface Operation {
  method: string;
  path: string;
  body?: Json;
  parameters: { in: string; name: string }[];
  answers: string[];
}

const UNKNOWN = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const MANY = 40;

async function operationsOf(server: ChatServer): Promise<{ operations: Operation[]; schemas: Json }> {
  const document = await (await fetch(`${server.url}/openapi.json`)).json();
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Json).map(([method, given]): Operation => {
      const { requestBody, parameters, responses } = given as Json;
      const body = (requestBody as { content?: Record<string, { schema: Json }> })?.content
        ?.["application/json"]?.schema;
      return {
        method: method.toUpperCase(),
        path,
        ...(body ? { body } : {}),
        parameters: (parameters ?? []) as Operation["parameters"],
        answers: Object.keys(responses as Json),
      };
    })
  );
  return { operations, schemas: document.components?.schemas ?? {} };
}

/** A value that a schema takes, more or less. */
function valueOf(schema: Json, schemas: Json, c: Chance, depth = 6): unknown {
  if (depth === 0) return null;
  const of = (inner: unknown) => valueOf(inner as Json, schemas, c, depth - 1);
  if (typeof schema.$ref === "string") return of(schemas[schema.$ref.split("/").at(-1)!] ?? {});
  if ("const" in schema) return schema.const;
  for (const list of ["enum", "anyOf", "oneOf"]) {
    const choices = schema[list] as unknown[] | undefined;
    if (choices) return list === "enum" ? c.pick(choices) : of(c.pick(choices));
  }
  switch (schema.type) {
    case "string":
      return c.pick(["hello", "a-1", ...ODD_TEXTS]);
    case "integer":
    case "number":
      return c.pick([schema.minimum ?? 1, schema.maximum ?? 2, 1, 128]);
    case "boolean":
      return c.maybe(50);
    case "array":
      return c.some(0, 3, () => of(schema.items ?? {}));
    case "object": {
      const required = (schema.required ?? []) as string[];
      const kept = Object.entries((schema.properties ?? {}) as Json).filter(([name]) =>
        required.includes(name) || c.maybe(50)
      );
      return Object.fromEntries(kept.map(([name, inner]) => [name, of(inner)]));
    }
    default:
      return anyValue(c, 2);
  }
}

/** The value with something wrong somewhere. */
function broken(value: unknown, c: Chance): unknown {
  if (typeof value !== "object" || value === null || c.maybe(15)) return anyValue(c);
  if (Array.isArray(value)) {
    return c.maybe(30) ? [...value, anyValue(c)] : value.map((part) => c.maybe(50) ? broken(part, c) : part);
  }
  const entries = Object.entries(value).map(([name, part]) => [name, c.maybe(35) ? broken(part, c) : part]);
  if (c.maybe(20)) entries.push([c.pick(ODD_TEXTS), anyValue(c)]);
  if (c.maybe(10)) entries.push(...Array.from({ length: MANY }, (_, at) => [`extra${at}`, anyValue(c, 1)]));
  if (c.maybe(20)) entries.splice(c.int(entries.length + 1), 1);
  return Object.fromEntries(entries);
}

/** The text of a body: JSON mostly, with everything that JSON allows and its readers stumble over. */
function textOf(value: unknown, c: Chance): string | Uint8Array {
  const text = JSON.stringify(value) ?? "null";
  switch (c.int(20)) {
    case 0:
      return "[".repeat(c.pick([63, 65, 100_000]));
    case 1:
      return '{"a":'.repeat(c.pick([60, 5000])) + "1" + "}".repeat(60);
    case 2:
      return text.slice(0, c.int(text.length + 1));
    case 3:
      return text.replace(
        /:(true|false|null|\d+|"[^"]*")/,
        `:${c.pick(["1e400", "-1e400", "0.1e-999", "123456789012345678901234567890", "NaN", "01"])}`,
      );
    case 4:
      return text.replace(/"([^"]*)"/, '"\\u0000\\ud83d$1"');
    case 5:
      return text.replace(/^\{/, '{"__proto__":{"message":"x","admin":true},"constructor":{"prototype":{}},');
    case 6:
      return `${text.replace(/\}$/, "")},${text.slice(1)}`;
    case 7:
      return `\ufeff${text}`;
    case 8:
      return new Uint8Array([0xff, 0xfe, 0x00, ...new TextEncoder().encode(text)]);
    case 9:
      return c.pick(["", " ", "null", "[]", "0", '"text"', "undefined", "<xml/>", "a=b&c=d", "\0"]);
    default:
      return text;
  }
}

const SAID =
  /\bat .+:\d+:\d+|file:\/\/|\/(tmp|home|root|work|usr)\/|node_modules|TypeError|SyntaxError|RangeError|SQLITE|ZodError/;

async function assertAnswer(answer: Response, { answers, path }: Operation): Promise<void> {
  const text = await answer.text();
  const told = `${answer.status} ${text.slice(0, 500)}`;
  assert.ok(answer.status < 500, told);
  if (answer.status < 400) return;
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8", told);
  const { message, code, details, ...rest } = JSON.parse(text);
  assert.ok(typeof message === "string" && message.length > 5 && typeof code === "string", told);
  assert.deepEqual(rest, {}, told);
  if (details !== undefined) assert.equal(typeof details, "object", told);
  assert.doesNotMatch(message, SAID);
  assert.ok(!text.includes(API_KEY), told);
  assert.ok(
    answers.includes(String(answer.status)),
    `${path} answers what its document does not know: ${told}`,
  );
}

/** Addresses that are there, and some that are not. */
function pathOf({ path, parameters }: Operation, ids: Record<string, string>, c: Chance): string {
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name) =>
      encodeURIComponent(
        c.maybe(85) ? ids[name]! : c.pick([UNKNOWN, "x", "%00", "a".repeat(200), "😀", "'"]),
      ),
  );
  const query = new URLSearchParams();
  for (const { in: place, name } of parameters) {
    if (place === "query" && c.maybe(60)) {
      query.set(
        name,
        c.maybe(70) && ids[name] ? ids[name] : c.pick([...ODD_TEXTS, "1", "-1", "1e9", "true"]),
      );
    }
  }
  return `${filled}?${query}`;
}

const { seed, cases } = fuzzing(700);

Deno.test(`whatever is sent to whatever route is answered, and no fault of the server; FUZZ_SEED=${seed}`, async () => {
  // What a configuration may point at is the practice model alone: nothing here leaves the machine.
  await using server = await startChatServer({ config: { modelHosts: ["127.0.0.1"] } });
  const alice = server.chat("alice");
  const { operations, schemas } = await operationsOf(server);
  const [group] = (await (await fetch(`${server.gns3.url}/v3/access/groups`, {
    headers: { authorization: `Bearer ${server.chat("admin").token}` },
  })).json()) as { user_group_id: string }[];
  const { sessionId } = await alice.send("hello");
  const configs = `/v3/access/users/${server.gns3.userIds.alice}/llm-model-configs`;
  const model = {
    name: "m",
    provider: "openai",
    base_url: server.model.url,
    model: "practice-1",
    context_limit: 128,
  };
  const { config_id } = await alice.json("POST", configs, { ...model, api_key: API_KEY }, 201);
  const ids: Record<string, string> = {
    project_id: alice.projectId,
    session_id: sessionId,
    approval_id: UNKNOWN,
    user_id: server.gns3.userIds.alice!,
    group_id: group!.user_group_id,
    config_id,
  };
  const seen = { accepted: 0, refused: 0 };
  const withBody = operations.filter(({ body }) => body);
  for (let at = 0; at < cases; at++) {
    await fuzzCase(seed, at, async (c) => {
      const operation = c.maybe(75) ? c.pick(withBody) : c.pick(operations);
      const { method, body } = operation;
      const caller: Chat = server.chat(c.maybe(80) ? "alice" : "admin");
      const value = body && valueOf(body, schemas, c);
      const given = body && textOf(c.maybe(70) ? broken(value, c) : value, c);
      const answer = await fetch(server.url + pathOf(operation, ids, c), {
        method,
        headers: {
          authorization: `Bearer ${caller.token}`,
          ...(c.maybe(90) ? { "content-type": "application/json" } : { "content-type": "text/plain" }),
        },
        ...(given === undefined ? {} : { body: given as BodyInit }),
      });
      await assertAnswer(answer, operation);
      seen[answer.ok ? "accepted" : "refused"]++;
      const next = await alice.call("GET", "/sessions?limit=1");
      assert.equal(next.status, 200, await next.text());
    });
  }
  if (cases >= 500) {
    assert.ok(Math.min(seen.accepted, seen.refused) > cases / 10, `it tries both: ${JSON.stringify(seen)}`);
  }
  const faults = server.lines.filter(({ level, msg }) => level === "error" || /unexpected/.test(msg));
  assert.deepEqual(faults, [], "nothing in this program failed");
  const turn = await server.chat("admin").send("hello");
  assert.equal(turn.last.type, "done", JSON.stringify(turn.last));
});
