// The process: options, start message, the Worker's permissions, signals and exit codes.
import assert from "node:assert/strict";
import { findProgram } from "../src/cli/find_program.ts";
import { join } from "node:path";
import project from "../deno.json" with { type: "json" };
import { mainWith, type Program, startFromSource, workspace } from "./fakes/program.ts";

/** A server that shows what the Worker may do and ends its one stream when it is drained. */
const SERVER = `
const stopped = Promise.withResolvers();
async function createServer(config, { log }) {
  const attempts = {
    readProjects: () => Deno.readDirSync(config.projectsDir).next(),
    writeState: () => Deno.writeTextFileSync(config.stateDir + "/written", "x"),
    readElsewhere: () => Deno.readTextFileSync("/etc/passwd"),
    readBeside: () => Deno.readDirSync(config.projectsDir + "/..").next(),
    writeElsewhere: () => Deno.writeTextFileSync("/tmp/should-not-be-there", "x"),
    environment: () => Deno.env.get("HOME"),
    run: () => new Deno.Command("true").outputSync(),
    ffi: () => Deno.dlopen("libc.so.6", {}),
    sys: () => Deno.hostname(),
    importElsewhere: () => import(["file:///etc", "hostname"].join("/")),
  };
  return {
    mounted: ["chat   /v3/projects/{project_id}/chat"],
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/may") {
        const may = {};
        for (const [name, attempt] of Object.entries(attempts)) {
          try { await attempt(); may[name] = true; } catch (error) { may[name] = /Requires (\\w+) access/.exec(error.message)?.[1] ?? String(error); }
        }
        return Response.json(may);
      }
      if (pathname === "/slow") {
        const body = new ReadableStream({
          async start(controller) {
            controller.enqueue(new TextEncoder().encode("begun "));
            await stopped.promise;
            controller.enqueue(new TextEncoder().encode("drained"));
            controller.close();
          },
        });
        return new Response(body);
      }
      if (pathname === "/stuck") return new Response(new ReadableStream({}));
      if (pathname === "/reject") Promise.reject(new Error("nobody looks, sk-0123456789"));
      if (pathname === "/throw") setTimeout(() => { throw new Error("thrown in a timer"); }, 0);
      if (pathname === "/config") return Response.json(config);
      return new Response("ok");
    },
    async drain() {
      log.info("draining");
      if (config.projectsDir.endsWith("never")) await new Promise(() => {});
      await new Promise((resolve) => setTimeout(resolve, 300));
      stopped.resolve();
    },
    async close() { Deno.writeTextFileSync(config.stateDir + "/closed", "x"); },
  };
}`;

interface Started {
  program: Program;
  url: string;
  dir: string;
}

async function withServer(test: (started: Started) => Promise<void>, args: string[] = [], server = SERVER) {
  const space = workspace();
  const program = startFromSource([...space.options, ...args], { main: mainWith(space.dir, server) });
  try {
    const [url] = await program.until(/http:\/\/127\.0\.0\.1:\d+(?=\s+GNS3|")/);
    await test({ program, url, dir: space.dir });
  } finally {
    program.kill("SIGKILL");
    await program.ended();
    space.close();
  }
}

const get = async (url: string) => await (await fetch(url)).text();
const exists = (path: string) => Deno.statSync(path).isFile;

Deno.test("the program says its version and its options", async () => {
  const version = await startFromSource(["--version"]).ended();
  assert.deepEqual(version, { code: 0, signal: null, out: `gns3-copilot ${project.version}\n`, err: "" });
  for (const args of [["--help"], ["serve", "--help"], ["-h"]]) {
    const { code, out } = await startFromSource(args).ended();
    assert.equal(code, 0);
    assert.match(out, /^ {2}gns3-copilot serve +the server/m);
    assert.match(out, /^ {2}--heartbeat-interval SECONDS +\S.*\(15\)$/m);
  }
});

Deno.test("what cannot be started ends with exit code 1 and one sentence", async () => {
  const cases: [string[], string][] = [
    [["--prot", "1"], "Unknown option --prot. Did you mean --port?\n"],
    [["sevre"], "Unknown command sevre. Did you mean serve?\n"],
    [["--database-url", "x"], "--database-url is not available in this version.\n"],
    [["--port", "x"], '--port must be a whole number from 0 to 65535, not "x".\n'],
    [
      ["--projects-dir", "/nowhere"],
      "The projects directory /nowhere does not exist. Name GNS3's projects directory with --projects-dir.\n",
    ],
  ];
  for (const [args, sentence] of cases) {
    assert.deepEqual(await startFromSource(args).ended(), { code: 1, signal: null, out: "", err: sentence });
  }
});

Deno.test("the start message tells address, version, what is mounted and how to stop", async () => {
  await withServer(async ({ program, url, dir }) => {
    await program.until(/Ctrl-C stops it\./);
    const lines = program.printed().out.split("\n").map((line) => line.trim().replace(/\s{2,}/g, "  "));
    assert.deepEqual(lines, [
      `GNS3 Copilot Server ${project.version}`,
      `Address  ${url}`,
      "GNS3  http://127.0.0.1:3080",
      `Projects  ${dir}/projects`,
      `State  ${dir}/state`,
      "Model  none for everyone; each user stores their own",
      `Packets  ${
        findProgram("tshark", Deno.env.get("PATH")) ??
          "tshark is not installed: captures can be made, not read"
      }`,
      "Mounted  chat  /v3/projects/{project_id}/chat",
      "Ctrl-C stops it.",
      "",
    ]);
    assert.equal(await get(url), "ok");
  });
});

Deno.test("with JSON logs the start message is a log line", async () => {
  await withServer(async ({ program, url }) => {
    await program.until(/is listening/);
    const line = JSON.parse(program.printed().err.trim());
    assert.deepEqual([line.address, line.version, line.level], [url, project.version, "info"]);
    assert.equal(program.printed().out, "");
  }, ["--log-format", "json"]);
});

Deno.test("with --quiet nothing is printed, from start to stop", async () => {
  const space = workspace();
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const port = listener.addr.port;
  listener.close();
  const program = startFromSource([...space.options, "--port", `${port}`, "--quiet"], {
    main: mainWith(space.dir, SERVER),
  });
  while (await get(`http://127.0.0.1:${port}/`).catch(() => "") !== "ok") {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  program.kill("SIGTERM");
  assert.deepEqual(await program.ended(), { code: 0, signal: null, out: "", err: "" });
  space.close();
});

Deno.test("the Worker may use the two directories and the network, and nothing else", async () => {
  await withServer(async ({ url }) => {
    assert.deepEqual(JSON.parse(await get(`${url}/may`)), {
      readProjects: true,
      writeState: true,
      readElsewhere: "read",
      readBeside: "read",
      writeElsewhere: "write",
      environment: "env",
      run: "run",
      ffi: "ffi",
      sys: "sys",
      importElsewhere: "read",
    });
  });
});

Deno.test("faults that nothing caught are logged without secrets, and the server goes on", async () => {
  await withServer(async ({ program, url }) => {
    assert.equal(await get(`${url}/reject`), "ok");
    await program.until(/A promise failed .* error="Error: nobody looks, \*\*\*"/);
    assert.equal(await get(`${url}/throw`), "ok");
    await program.until(/An error was thrown .* error="Error: thrown in a timer"/);
    assert.equal(await get(url), "ok");
  });
});

Deno.test("when the Worker dies the program says so and ends with exit code 1", async () => {
  // A listener that stands before ours keeps it from rescuing the Worker.
  const doomed = SERVER.replace(
    "const stopped",
    'addEventListener("error", (event) => event.stopImmediatePropagation());\nconst stopped',
  );
  await withServer(
    async ({ program, url }) => {
      await get(`${url}/throw`);
      const { code, err } = await program.ended();
      assert.equal(code, 1);
      assert.match(err, /ERROR The server ended unexpectedly: Uncaught .*thrown in a timer/);
    },
    [],
    doomed,
  );
});

Deno.test("SIGTERM and SIGINT drain the server: streams end whole, everything is closed, exit code 0", async () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    await withServer(async ({ program, url, dir }) => {
      const response = await fetch(`${url}/slow`);
      program.kill(signal);
      assert.equal(await response.text(), "begun drained");
      const { code, out } = await program.ended();
      assert.equal(code, 0);
      assert.match(out, /Stopping: running answers have up to 20 s\..*\nStopped\. Everything is saved\.\n$/);
      assert.ok(exists(join(dir, "state", "closed")));
    });
  }
});

Deno.test("a connection that never ends is cut after the drain", async () => {
  await withServer(async ({ program, url, dir }) => {
    const stuck = await fetch(`${url}/stuck`);
    const ended = assert.rejects(stuck.text());
    program.kill("SIGTERM");
    assert.equal((await program.ended()).code, 0);
    await ended;
    assert.ok(exists(join(dir, "state", "closed")));
  });
});

Deno.test("one Ctrl-C that arrives twice, as under `deno task`, is one signal", async () => {
  await withServer(async ({ program }) => {
    program.kill("SIGINT");
    await program.until(/Stopping/);
    program.kill("SIGINT");
    assert.equal((await program.ended()).code, 0);
  });
});

Deno.test("a second signal stops at once, with the exit code of that signal", async () => {
  for (const [signal, expected] of [["SIGTERM", 143], ["SIGINT", 130]] as const) {
    const never = SERVER.replace('config.projectsDir.endsWith("never")', "true");
    await withServer(
      async ({ program }) => {
        program.kill("SIGTERM");
        await program.until(/Stopping/);
        const again = setInterval(() => program.kill(signal), 200);
        const { code } = await program.ended();
        clearInterval(again);
        assert.equal(code, expected);
      },
      [],
      never,
    );
  }
});

Deno.test("a port in use is named, a free one suggested, and that one works", async () => {
  const space = workspace();
  const taken = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = taken.addr;
  const main = mainWith(space.dir, SERVER);
  const { code, out, err } = await startFromSource([...space.options, "--port", `${port}`], { main }).ended();
  taken.close();
  assert.deepEqual([code, out], [1, ""]);
  const match = /^Port (\d+) on 127\.0\.0\.1 is in use\. Port (\d+) is free: use --port \2\.\n$/.exec(err);
  assert.ok(match, err);
  assert.equal(Number(match[1]), port);
  Deno.listen({ port: Number(match[2]), hostname: "127.0.0.1" }).close();
  assert.ok(exists(join(space.dir, "state", "closed")), "what had been opened was closed");
  space.close();
});

Deno.test("an address of another machine is refused with a sentence", async () => {
  const space = workspace();
  const main = mainWith(space.dir, SERVER);
  const { code, err } = await startFromSource([...space.options, "--host", "203.0.113.7"], { main }).ended();
  assert.deepEqual([code, err], [
    1,
    "203.0.113.7 is not an address of this machine. Choose another with --host.\n",
  ]);
  space.close();
});

Deno.test("a server that cannot be built ends the program with its sentence", async () => {
  const space = workspace();
  const failing = `import { AppError } from ${
    JSON.stringify(new URL("../src/domain/error.ts", import.meta.url).href)
  };
async function createServer() { throw new AppError("unavailable", "The state directory is locked by another copy."); }`;
  const first = await startFromSource(space.options, { main: mainWith(space.dir, failing) }).ended();
  assert.deepEqual([first.code, first.err], [1, "The state directory is locked by another copy.\n"]);
  const broken = 'throw new Error("broken module"); async function createServer() {}';
  const second = await startFromSource(space.options, { main: mainWith(space.dir, broken) }).ended();
  assert.equal(second.code, 1);
  assert.match(second.err, /^The server could not start: .*broken module/m);
  space.close();
});

Deno.test("the Worker gets the checked configuration, the model's key included", async () => {
  const space = workspace();
  const main = mainWith(space.dir, SERVER);
  const env = { OPENAI_MODEL: "m-1", OPENAI_API_KEY: "key-12345", GNS3_COPILOT_CONTEXT_LIMIT: "64" };
  const program = startFromSource(space.options, { main, env });
  const [url] = await program.until(/http:\/\/127\.0\.0\.1:\d+(?=\s+GNS3)/);
  const config = JSON.parse(await get(`${url}/config`));
  assert.deepEqual([config.model.model, config.model.api_key, config.model.context_limit], [
    "m-1",
    "key-12345",
    64,
  ]);
  program.kill("SIGTERM");
  const { out, err } = await program.ended();
  assert.ok(!(out + err).includes("key-12345"));
  space.close();
});
