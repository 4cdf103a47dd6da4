import assert from "node:assert/strict";
import { AppError } from "../../src/domain/error.ts";
import { Notifications, type NotificationsOptions, type ProjectEvent } from "../../src/gns3/notifications.ts";
import { testLog } from "../fakes/log.ts";
import { StreamServer, untilTrue } from "./stream_server.ts";

const PAUSES = { first: 10, longest: 40, silence: 5_000 };

function follow(server: StreamServer, options: Partial<NotificationsOptions> = {}) {
  const { log, lines } = testLog();
  const events: ProjectEvent[] = [];
  const opened: string[] = [];
  const notifications = new Notifications({
    baseUrl: server.url,
    onEvent: (event) => void events.push(event),
    onOpen: (credential) => void opened.push(credential),
    log,
    pauses: PAUSES,
    ...options,
  });
  return {
    notifications,
    events,
    opened,
    lines,
    warnings: () => lines.filter(({ level }) => level === "warn"),
  };
}

const project = (project_id: string, name = "lab") => ({ project_id, name, status: "opened", path: "/x" });

Deno.test("Notifications reports what the controller says about projects, and nothing else, from cut lines too", async () => {
  await using server = new StreamServer();
  const { notifications, events } = follow(server);
  notifications.use("alice");
  const stream = await server.next();
  assert.equal(stream.path, "/v3/notifications");
  assert.equal(stream.authorization, "Bearer alice");
  const lines = [
    { action: "ping", event: { cpu_usage_percent: 1 } },
    { action: "project.created", event: project("a") },
    { action: "project.opened", event: project("a") },
    { action: "compute.updated", event: { compute_id: "local" } },
    { action: "project.updated", event: project("a", "Übung 网络") },
    { action: "project.closed", event: project("a") },
    { action: "project.deleted", event: project("a") },
    { action: "project.closed", event: null },
    { action: "snapshot.restored", event: { snapshot_id: "x" } },
  ];
  const bytes = new TextEncoder().encode(
    `${lines.map((line) => JSON.stringify(line)).join("\n")}\nno json\n\n${
      JSON.stringify({ action: "project.opened", event: project("b") })
    }\n`,
  );
  for (let at = 0; at < bytes.length; at += 7) stream.send(bytes.subarray(at, at + 7));
  await untilTrue(() => events.length === 5);
  assert.deepEqual(events, [
    { action: "opened", project_id: "a", name: "lab" },
    { action: "updated", project_id: "a", name: "Übung 网络" },
    { action: "closed", project_id: "a", name: "lab" },
    { action: "deleted", project_id: "a", name: "lab" },
    { action: "opened", project_id: "b", name: "lab" },
  ]);
  await notifications.close();
  await stream.gone;
});

Deno.test("Notifications asks nothing before there is a caller, and never opens a project's own stream", async () => {
  await using server = new StreamServer();
  const { notifications } = follow(server);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(server.seen, []);
  await notifications.close();
  assert.deepEqual(server.seen, []);
});

Deno.test("Notifications comes back after a break, with the newest caller's token, and tells that it missed something", async () => { // G9
  await using server = new StreamServer();
  const { notifications, opened } = follow(server);
  notifications.use("old");
  const first = await server.next();
  notifications.use("new");
  first.end();
  const second = await server.next();
  second.cut();
  await server.next();
  await untilTrue(() => opened.length === 3);
  assert.deepEqual(opened, ["old", "new", "new"]);
  await notifications.close();
});

Deno.test("Notifications drops a token that GNS3 refuses, and waits for another caller", async () => {
  await using server = new StreamServer();
  server.refuse.add("expired");
  const { notifications, opened, warnings } = follow(server);
  notifications.use("expired");
  await untilTrue(() => server.seen.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(server.seen.length, 1, "the refused token is not used again");
  notifications.use("fresh");
  await server.next();
  await untilTrue(() => opened.length === 1);
  assert.deepEqual(opened, ["fresh"]);
  assert.equal(warnings().length, 1);
  assert.doesNotMatch(JSON.stringify(warnings()), /expired/);
  await notifications.close();
});

Deno.test("Notifications takes a silent stream for a dead one", async () => {
  await using server = new StreamServer();
  const { notifications, warnings } = follow(server, { pauses: { ...PAUSES, silence: 60 } });
  notifications.use("alice");
  const first = await server.next();
  first.send(new TextEncoder().encode('{"action": "ping", "event": {}}\n'));
  await first.gone;
  await server.next();
  assert.match(warnings()[0]!.msg, /gone silent/);
  await notifications.close();
});

Deno.test("Notifications tries again with growing pauses, complains once, and is quick when a caller comes", async () => {
  await using server = new StreamServer();
  server.status = 503;
  const { notifications, warnings } = follow(server, {
    pauses: { first: 10, longest: 600_000, silence: 1000 },
    random: () => 1,
  });
  notifications.use("alice");
  await untilTrue(() => server.seen.length >= 5);
  assert.equal(warnings().length, 1);
  const { at } = server;
  const gaps = at.slice(1, 5).map((time, i) => time - at[i]!);
  assert.ok(gaps[3]! > gaps[0]!, String(gaps));
  // 10 ms after the last failure at the latest, although the pause has grown far beyond that.
  server.status = 200;
  while (server.open === 0) {
    notifications.use("alice");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await notifications.close();
});

Deno.test("Notifications does not follow a redirect with a token, and sends none that no header can carry", async () => {
  await using server = new StreamServer();
  server.status = 307;
  const { notifications, warnings } = follow(server);
  notifications.use("alice");
  await untilTrue(() => server.seen.length >= 2);
  assert.ok(server.seen.every(({ path }) => path === "/v3/notifications"));
  notifications.use("a\u0000b");
  await untilTrue(() => warnings().length >= 2);
  assert.doesNotMatch(JSON.stringify(warnings()), /a\\u0000b/);
  await notifications.close();
});

Deno.test("Notifications uses the service account alone when there is one, and signs it in again after 401", async () => {
  await using server = new StreamServer();
  server.refuse.add("service-1");
  let signIns = 0;
  const forgotten: string[] = [];
  const { notifications, opened } = follow(server, {
    account: {
      credential: () => Promise.resolve(`service-${++signIns}`),
      forget: (token) => Promise.resolve(void forgotten.push(token)),
    },
  });
  notifications.use("alice");
  await server.next();
  await untilTrue(() => opened.length === 1);
  assert.deepEqual([opened, forgotten], [["service-2"], ["service-1"]]);
  await notifications.close();
});

Deno.test("Notifications says what is wrong with the service account, and closes while it signs in", async () => {
  await using server = new StreamServer();
  const wrong = new AppError("unauthorized", "GNS3 does not accept the account.");
  const { notifications, warnings } = follow(server, {
    account: { credential: () => Promise.reject(wrong), forget: () => Promise.resolve() },
  });
  await untilTrue(() => warnings().length === 1);
  assert.match(warnings()[0]!.msg, /does not accept the account/);
  await notifications.close();
  const hanging = follow(server, {
    account: { credential: () => new Promise(() => {}), forget: () => Promise.resolve() },
  });
  await hanging.notifications.close();
});
