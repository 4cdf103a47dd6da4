// The lab of a soak: projects that stay, projects that come and go, and users who may use one of each.
import type { PracticeGns3 } from "../../src/practice/gns3_server.ts";

export interface SoakUser {
  name: string;
  /** A project that nobody touches: whatever fails there is a fault. */
  steady: string;
  /** A place where a project comes and goes: what is there now, if anything. */
  place: Place;
}

/** A project that is closed, opened, deleted and set back to snapshots; another one comes after it. */
export interface Place {
  name: string;
  projectId: string;
  users: string[];
}

const STEADY = 5;
const PLACES = 5;

/** Calls GNS3 as its administrator. Throws when GNS3 refuses. */
export async function asAdmin(gns3: PracticeGns3, method: string, path: string, body?: unknown) {
  const answer = await fetch(gns3.url + path, {
    method,
    headers: { authorization: `Bearer ${gns3.tokens.admin}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

let made = 0;

export async function newProject(gns3: PracticeGns3, users: string[]): Promise<string> {
  const body = { name: `soak-${++made}`, auto_close: false };
  const { project_id } = await asAdmin(gns3, "POST", "/v3/projects", body);
  for (const user of users) gns3.grant(user, project_id, "User");
  return project_id;
}

/** Makes the projects and `count` users with tokens. */
export async function furnish(
  gns3: PracticeGns3,
  count: number,
): Promise<{ users: SoakUser[]; places: Place[]; tokens: Map<string, string> }> {
  const names = Array.from({ length: count }, (_, i) => `user${i}`);
  const tokens = new Map<string, string>();
  for (const username of names) {
    gns3.addUser({ username, password: "soak", roles: { "/templates": "User", "/computes": "User" } });
    gns3.grant(username, gns3.projectId, "User");
    tokens.set(username, gns3.newToken(username));
  }
  const share = (i: number, of: number) => names.filter((_, at) => at % of === i);
  const steady: string[] = [];
  // The first is the one with devices.
  for (let i = 0; i < STEADY; i++) steady.push(i ? await newProject(gns3, share(i, STEADY)) : gns3.projectId);
  const places: Place[] = [];
  for (let i = 0; i < PLACES; i++) {
    const users = share(i, PLACES);
    places.push({ name: `place ${i}`, projectId: await newProject(gns3, users), users });
  }
  const users = names.map((name, i) => ({ name, steady: steady[i % STEADY]!, place: places[i % PLACES]! }));
  return { users, places, tokens };
}
