// Encrypts API keys (AES-256-GCM) before they are stored. The key to them comes from the environment, or from a file in the
// state directory that only its owner may read.
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";
import { join } from "node:path";
import { AppError } from "../domain/error.ts";

const FILE = "secret.key";
const HEADER =
  "# Encrypts the API keys in gns3_copilot.db. Keep it secret, and keep it: without it they are lost.\n";
const KEY_BYTES = 32;
// Version of the format, nonce, tag, then the text (NIST SP 800-38D: a nonce of 96 bits, never used twice).
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const START = 1 + NONCE_BYTES + TAG_BYTES;

export interface SecretsOptions {
  stateDir: string;
  /** Texts from the environment; the first encrypts, all decrypt. None: the file's keys. */
  secretKeys: readonly string[];
}

/** Seals texts and opens them again. The file is read anew each time: it may be rotated, or get lost, at any moment. */
export interface Secrets {
  /** `place` must be the same for `open`: a sealed text that is moved elsewhere cannot be opened. Throws `unavailable`. */
  seal(text: string, place: string): Uint8Array;
  /** The text, or undefined when it was sealed with a key that is not there any more. */
  open(sealed: Uint8Array, place: string): string | undefined;
}

/** Throws nothing: a missing or unusable file shows when something is sealed or opened. */
export function openSecrets({ stateDir, secretKeys }: SecretsOptions): Secrets {
  const fixed = secretKeys.map(keyOf);
  return {
    seal(text, place) {
      const key = fixed[0] ?? (readKeyFile(stateDir) ?? createKeyFile(stateDir))[0]!;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(bytes(place));
      const sealed = [cipher.update(text, "utf8"), cipher.final()];
      return bytesOf([VERSION], nonce, cipher.getAuthTag(), ...sealed);
    },
    open(sealed, place) {
      if (sealed[0] !== VERSION || sealed.length < START) return undefined;
      for (const key of [...fixed, ...readKeyFile(stateDir, "or nothing") ?? []]) {
        const text = decrypt(sealed, place, key);
        if (text !== undefined) return text;
      }
    },
  };
}

/** Puts a new key in front of the file's keys: from now on it encrypts, and the older ones still decrypt. */
export function addKeyToFile(stateDir: string): void {
  writeKeyFile(stateDir, [randomBytes(KEY_BYTES), ...readKeyFile(stateDir) ?? []]);
}

/** Leaves only the newest key in the file, or none at all. */
export function dropOldKeys(stateDir: string, keep: "newest" | "none"): void {
  const keys = readKeyFile(stateDir);
  if (!keys) return;
  if (keep === "newest") writeKeyFile(stateDir, keys.slice(0, 1));
  else Deno.removeSync(join(stateDir, FILE));
}

/** 32 bytes as base64 or hexadecimal are the key; any other text is a passphrase that makes one. */
function keyOf(text: string): Uint8Array {
  return decoded(text) ?? scryptSync(text, "gns3-copilot", KEY_BYTES);
}

function decoded(text: string): Uint8Array | undefined {
  const encoding = /^[0-9a-f]{64}$/i.test(text)
    ? "hex"
    : /^[A-Za-z0-9+/_-]{43}=?$/.test(text)
    ? "base64url"
    : undefined;
  if (!encoding) return undefined;
  return encoding === "hex" ? Uint8Array.fromHex(text) : fromBase64(text);
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
}

function decrypt(sealed: Uint8Array, place: string, key: Uint8Array): string | undefined {
  const tag = sealed.subarray(1 + NONCE_BYTES, START);
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, 1 + NONCE_BYTES))
    .setAAD(bytes(place)).setAuthTag(tag);
  try {
    return new TextDecoder().decode(bytesOf(decipher.update(sealed.subarray(START)), decipher.final()));
  } catch {
    return undefined;
  }
}

/**
 * The file's keys, the newest first; undefined when there is no file. A file that holds no keys is kept beside and counts
 * as none. Throws `unavailable` for one that cannot be read, unless `or nothing`.
 */
function readKeyFile(stateDir: string, otherwise?: "or nothing"): Uint8Array[] | undefined {
  const path = join(stateDir, FILE);
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
    const mode = Deno.statSync(path).mode;
    if (mode !== null && (mode & 0o077) !== 0) Deno.chmodSync(path, 0o600);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || otherwise) return undefined;
    throw unusable(error);
  }
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line && !line.startsWith("#"));
  const keys = lines.map(decoded);
  return keys.length > 0 && keys.every((key) => key !== undefined) ? keys : undefined;
}

function createKeyFile(stateDir: string): Uint8Array[] {
  const path = join(stateDir, FILE);
  try {
    // Here only when it holds no key: whatever it is, it may still be worth something to somebody.
    Deno.renameSync(path, `${path}.unusable`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw unusable(error);
  }
  const keys = [randomBytes(KEY_BYTES)];
  writeKeyFile(stateDir, keys);
  return keys;
}

/** Replaces the file as a whole, so that a crash leaves the old one or the new one. */
function writeKeyFile(stateDir: string, keys: readonly Uint8Array[]): void {
  const path = join(stateDir, FILE);
  const next = `${path}.new`;
  try {
    // What a crash has left would keep its own permissions.
    removeIfThere(next);
    using file = Deno.openSync(next, { createNew: true, write: true, mode: 0o600 });
    const text = HEADER + keys.map((key) => key.toBase64() + "\n").join("");
    let rest = new TextEncoder().encode(text);
    while (rest.length > 0) rest = rest.subarray(file.writeSync(rest));
    file.syncSync();
    Deno.renameSync(next, path);
  } catch (error) {
    throw unusable(error);
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function unusable(cause: unknown): AppError {
  return new AppError(
    "unavailable",
    `This server's key file ${FILE} cannot be read or written, so no API key can be stored. ` +
      "The administrator must give its user access to the state directory (--state-dir).",
    { cause },
  );
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function bytesOf(...parts: (Uint8Array | number[])[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
