import assert from "node:assert/strict";
import { join } from "node:path";
import { addKeyToFile, dropOldKeys, openSecrets } from "../../src/storage/secrets.ts";
import { withStateDir } from "./state.ts";

const KEY = "sk-live-3b1f0c9d8e7a";
const modeOf = (path: string) => Deno.statSync(path).mode! & 0o777;

Deno.test("a sealed text opens again, differs each time, and is bound to its place", () =>
  withStateDir((stateDir) => {
    const secrets = openSecrets({ stateDir, secretKeys: [] });
    const [first, second] = [secrets.seal(KEY, "c1"), secrets.seal(KEY, "c1")];
    assert.notDeepEqual(first, second);
    assert.ok(!new TextDecoder("latin1").decode(first).includes(KEY));
    assert.deepEqual([secrets.open(first, "c1"), secrets.open(second, "c1")], [KEY, KEY]);
    assert.equal(secrets.open(first, "c2"), undefined, "moved to another configuration");
    for (const at of [0, 1, 20, first.length - 1]) {
      const changed = first.slice();
      changed[at]! ^= 1;
      assert.equal(secrets.open(changed, "c1"), undefined, `byte ${at} changed`);
    }
    assert.equal(secrets.open(new Uint8Array(5), "c1"), undefined);
    assert.equal(secrets.open(secrets.seal("", "c1"), "c1"), "");
  }));

Deno.test("the key file is made once, at the first need, for its owner only", () =>
  // I2
  withStateDir((stateDir) => {
    const path = join(stateDir, "secret.key");
    const sealed = openSecrets({ stateDir, secretKeys: [] });
    assert.equal(sealed.open(new Uint8Array(40), "c1"), undefined);
    assert.deepEqual([...Deno.readDirSync(stateDir)], []);
    const bytes = sealed.seal(KEY, "c1");
    const file = Deno.readTextFileSync(path);
    assert.equal(modeOf(path), 0o600);
    assert.equal(openSecrets({ stateDir, secretKeys: [] }).open(bytes, "c1"), KEY);
    sealed.seal(KEY, "c2");
    assert.equal(Deno.readTextFileSync(path), file);
    assert.deepEqual([...Deno.readDirSync(stateDir)].map(({ name }) => name), ["secret.key"]);
    Deno.chmodSync(path, 0o644);
    assert.equal(sealed.open(bytes, "c1"), KEY);
    assert.equal(modeOf(path), 0o600);
  }));

Deno.test("a file without a key in it is kept beside the new one, and opens nothing", () =>
  // I2
  withStateDir((stateDir) => {
    const path = join(stateDir, "secret.key");
    for (const text of ["", "# only a comment\n", "not a key\n"]) {
      Deno.writeTextFileSync(path, text);
      const secrets = openSecrets({ stateDir, secretKeys: [] });
      assert.equal(secrets.open(new Uint8Array(40), "c1"), undefined);
      assert.equal(Deno.readTextFileSync(path), text, "reading changes nothing");
      assert.equal(secrets.open(secrets.seal(KEY, "c1"), "c1"), KEY);
      assert.equal(Deno.readTextFileSync(`${path}.unusable`), text);
      assert.equal(modeOf(path), 0o600);
    }
  }));

Deno.test("a file that cannot be read is a sentence without a path when sealing, and opens nothing", () =>
  withStateDir((stateDir) => {
    Deno.mkdirSync(join(stateDir, "secret.key"));
    const secrets = openSecrets({ stateDir, secretKeys: [] });
    assert.equal(secrets.open(new Uint8Array(40), "c1"), undefined);
    assert.throws(() => secrets.seal(KEY, "c1"), (error: Error & { code?: string }) => {
      assert.equal(error.code, "unavailable");
      assert.match(error.message, /key file secret\.key cannot be read or written/);
      return !error.message.includes(stateDir);
    });
  }));

Deno.test("keys from the environment: base64, hexadecimal or a passphrase; the first seals, all open; no file is made", () =>
  withStateDir((stateDir) => {
    const bytes = new Uint8Array(32).fill(7);
    const keys = [bytes.toBase64(), "correct horse battery staple", "ab".repeat(32)];
    const with_ = (...secretKeys: string[]) => openSecrets({ stateDir, secretKeys });
    for (const [at, key] of keys.entries()) {
      const sealed = with_(key).seal(KEY, "c1");
      for (const [other, text] of keys.entries()) {
        assert.equal(with_(text).open(sealed, "c1"), at === other ? KEY : undefined);
      }
      assert.equal(with_("another passphrase", key).open(sealed, "c1"), KEY);
    }
    const sameKey = [bytes.toHex(), bytes.toBase64({ alphabet: "base64url", omitPadding: true })];
    const sealed = with_(bytes.toBase64()).seal(KEY, "c1");
    for (const key of sameKey) assert.equal(with_(key).open(sealed, "c1"), KEY);
    assert.deepEqual([...Deno.readDirSync(stateDir)], []);
  }));

Deno.test("a key from the environment takes over: what the file's key sealed still opens", () =>
  withStateDir((stateDir) => {
    const before = openSecrets({ stateDir, secretKeys: [] }).seal(KEY, "c1");
    const secrets = openSecrets({ stateDir, secretKeys: ["correct horse battery staple"] });
    assert.equal(secrets.open(before, "c1"), KEY);
    dropOldKeys(stateDir, "none");
    assert.equal(secrets.open(before, "c1"), undefined);
  }));

Deno.test("a rotated file: the new key seals at once, also in a process that runs, and the old one opens until dropped", () =>
  withStateDir((stateDir) => {
    const running = openSecrets({ stateDir, secretKeys: [] });
    const before = running.seal(KEY, "c1");
    addKeyToFile(stateDir);
    const after = running.seal(KEY, "c1");
    assert.deepEqual([running.open(before, "c1"), running.open(after, "c1")], [KEY, KEY]);
    dropOldKeys(stateDir, "newest");
    assert.deepEqual([running.open(before, "c1"), running.open(after, "c1")], [undefined, KEY]);
    assert.equal(modeOf(join(stateDir, "secret.key")), 0o600);
  }));
