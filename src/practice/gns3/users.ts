// Users of the practice GNS3 server: passwords, tokens that can be revoked or expire, and what a role may do.
import { forbidden, type Gns3Version, unauthorized } from "./error.ts";

const AUDITOR = [
  "Project.Audit",
  "Snapshot.Audit",
  "Node.Audit",
  "Link.Audit",
  "Drawing.Audit",
  "Template.Audit",
  "Compute.Audit",
];
const USER = [
  ...AUDITOR,
  "Project.Allocate",
  "Project.Modify",
  "Snapshot.Allocate",
  "Snapshot.Restore",
  "Node.Allocate",
  "Node.Modify",
  "Node.Console",
  "Node.PowerMgmt",
  "Link.Allocate",
  "Link.Modify",
  "Link.Capture",
  "Drawing.Allocate",
  "Drawing.Modify",
  "LLMConfig.Audit",
  "LLMConfig.Modify",
];

/** What each of GNS3's roles may do, as far as the practice server has it. The last two are such as people make. */
const PRIVILEGES: Record<Role, readonly string[]> = {
  User: USER,
  Auditor: AUDITOR,
  "Group viewer": ["Group.Audit"],
  "Group manager": ["Group.Audit", "Group.Modify"],
};

export type Role = "User" | "Auditor" | "Group viewer" | "Group manager";

/**
 * A user to be. `roles` says what they may do: by project id, "/templates", "/computes", "/access/groups/{id}", or "*" for
 * the whole server.
 */
export interface NewUser {
  username: string;
  password: string;
  superadmin?: boolean;
  roles?: Record<string, Role>;
  groups?: string[];
}

export interface User {
  userId: string;
  username: string;
  password: string;
  superadmin: boolean;
  roles: Map<string, Role>;
  groups: Set<string>;
  createdAt: string;
  lastLogin: string | null;
}

interface Token {
  username: string;
  state: "valid" | "expired" | "revoked";
  refresh: boolean;
}

/** The users and tokens of one server. */
export class Users {
  readonly byName = new Map<string, User>();
  readonly groups = new Map<string, string>();
  #tokens = new Map<string, Token>();
  readonly #version: Gns3Version;
  readonly #now: () => number;

  constructor(version: Gns3Version, now: () => number) {
    this.#version = version;
    this.#now = now;
    for (const name of ["Administrators", "Users"]) this.groups.set(name, crypto.randomUUID());
  }

  add(user: NewUser): User {
    const added: User = {
      userId: crypto.randomUUID(),
      username: user.username,
      password: user.password,
      superadmin: user.superadmin ?? false,
      roles: new Map(Object.entries(user.roles ?? {})),
      groups: new Set(user.groups ?? [user.superadmin ? "Administrators" : "Users"]),
      createdAt: stampOf(this.#now()),
      lastLogin: null,
    };
    for (const group of added.groups) {
      if (!this.groups.has(group)) this.groups.set(group, crypto.randomUUID());
    }
    this.byName.set(user.username, added);
    return added;
  }

  byId(userId: string): User | undefined {
    return [...this.byName.values()].find((user) => user.userId === userId);
  }

  /** Checks a password and answers with GNS3's log-in body. */
  logIn(username: string, password: string): Record<string, unknown> {
    const user = this.byName.get(username);
    if (!user || user.password !== password) throw unauthorized("Authentication was unsuccessful.");
    user.lastLogin = stampOf(this.#now());
    const answer = { access_token: this.issue(username), token_type: "bearer" };
    if (this.#version === "3.0.6") return answer;
    return {
      ...answer,
      expires_in: 86400,
      refresh_token: this.issue(username, true),
      refresh_expires_in: 2592000,
    };
  }

  /** A new token of a user, in the form of a JWT. */
  issue(username: string, refresh = false): string {
    const now = Math.floor(this.#now() / 1000);
    const part = (value: unknown) => base64url(new TextEncoder().encode(JSON.stringify(value)));
    const claims = {
      sub: username,
      iat: now,
      exp: now + 86400,
      ver: 0,
      type: refresh ? "refresh" : "access",
    };
    const signature = base64url(crypto.getRandomValues(new Uint8Array(32)));
    const token = `${part({ typ: "JWT", alg: "HS256" })}.${part(claims)}.${signature}`;
    this.#tokens.set(token, { username, state: "valid", refresh });
    return token;
  }

  /** Makes one token expire; GNS3 3.0.6 does not look at expiry, and so takes it all the same. */
  expire(token: string): void {
    const known = this.#tokens.get(token);
    if (known) known.state = "expired";
  }

  /** Revokes every token that the user has. */
  revoke(username: string): void {
    for (const token of this.#tokens.values()) if (token.username === username) token.state = "revoked";
  }

  /** The user behind a token. Throws GNS3's 401. */
  authenticate(token: string | null): User {
    if (!token) throw unauthorized("Not authenticated");
    const known = this.#tokens.get(token);
    const old = this.#version === "3.0.6";
    const complain = (message: string) => unauthorized(old ? "Could not validate credentials" : message);
    if (!known) {
      throw complain(
        token.split(".").length === 3 ? "Invalid token signature" : "Invalid token (DecodeError)",
      );
    }
    if (known.refresh) throw complain("Refresh tokens cannot be used for API access");
    if (known.state === "expired" && !old) throw complain("Token has expired");
    if (known.state === "revoked") throw complain(`Token has been revoked for '${known.username}'`);
    const user = this.byName.get(known.username);
    if (!user) throw complain("Could not validate credentials");
    return user;
  }

  /** The name behind a token whatever its state, for the record of requests. */
  nameOf(token: string | null): string | null {
    return (token && this.#tokens.get(token)?.username) ?? null;
  }

  /** True when the user may do this: in the project or at the path, or on the server when `where` is null. */
  may(user: User, privilege: string, where: string | null): boolean {
    if (user.superadmin) return true;
    // "Template.Audit" is looked up at "/templates", as GNS3's access control has it.
    const path = where ?? `/${privilege.split(".")[0]!.toLowerCase()}s`;
    const roles = [user.roles.get("*"), user.roles.get(path)];
    return roles.some((role) => {
      if (!role || !PRIVILEGES[role].includes(privilege)) return false;
      // In 3.0 an Auditor of a project cannot even read it.
      return !(role === "Auditor" && this.#version === "3.0.6" && privilege === "Project.Audit");
    });
  }

  require(user: User, privilege: string, where: string | null): void {
    if (!this.may(user, privilege, where)) throw forbidden(privilege);
  }
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** GNS3's form of a time: seconds, no zone. */
export function stampOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}

/** The body of `/v3/access/users/…`. */
export function userJson(user: User): Record<string, unknown> {
  return {
    username: user.username,
    is_active: true,
    email: user.superadmin ? null : `${user.username}@example.com`,
    full_name: user.username,
    created_at: user.createdAt,
    updated_at: user.createdAt,
    user_id: user.userId,
    last_login: user.lastLogin,
    is_superadmin: user.superadmin,
  };
}
