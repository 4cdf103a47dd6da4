// Configuration lines as people paste them: comments, blank lines, banners.
import assert from "node:assert/strict";
import { ciscoIos } from "../../src/devices/platforms/cisco_ios.ts";
import { huaweiVrp } from "../../src/devices/platforms/huawei_vrp.ts";
import { linux } from "../../src/devices/platforms/linux.ts";
import { unitsOf } from "../../src/devices/units.ts";

const texts = (lines: string[], platform = ciscoIos) => unitsOf(platform, lines).map(({ text }) => text);

Deno.test("unitsOf leaves out blank lines and comments, and keeps the numbers of the others", () => {
  assert.deepEqual(unitsOf(ciscoIos, ["hostname R1", "", "!", " ! x", "interface Gi0/1", " no shutdown"]), [
    { text: "hostname R1", line: 1 },
    { text: "interface Gi0/1", line: 5 },
    { text: " no shutdown", line: 6 },
  ]);
  assert.deepEqual(texts(["#", "sysname R1"], huaweiVrp), ["sysname R1"]);
  assert.deepEqual(texts(["# comment", "ip addr"], linux), ["ip addr"]);
});

// F16
Deno.test("unitsOf keeps a banner whole: blank lines, comment signs and commands in it are text", () => {
  assert.deepEqual(texts(["banner motd #", "Hello", "", "! no comment", "reload", "#", "hostname R1"]), [
    "banner motd #\nHello\n\n! no comment\nreload\n#",
    "hostname R1",
  ]);
  assert.deepEqual(texts(["banner login @ one line @", "hostname R1"]), [
    "banner login @ one line @",
    "hostname R1",
  ]);
  assert.deepEqual(texts(["banner motd #\nHello\n#", "hostname R1"]), [
    "banner motd #\nHello\n#",
    "hostname R1",
  ]);
  assert.deepEqual(texts(["banner exec %text", "more%", "hostname R1"]), [
    "banner exec %text\nmore%",
    "hostname R1",
  ]);
  assert.deepEqual(texts(["banner motd #", "never ended"]), ["banner motd #\nnever ended\n#"]);
});

// F16
Deno.test("unitsOf takes another delimiter where the text holds it, or where it is the two characters ^C", () => {
  assert.deepEqual(texts(["banner motd #", "to R1#core", "#"]), ["banner motd @\nto R1#core\n@"]);
  assert.deepEqual(texts(["banner motd ^C", "mail a@b #1", "^C", "hostname R1"]), [
    "banner motd ~\nmail a@b #1\n~",
    "hostname R1",
  ]);
});

Deno.test("unitsOf tells one banner from the next", () => {
  assert.deepEqual(texts(["banner motd #", "one#", "banner login #", "two", "#"]), [
    "banner motd #\none#",
    "banner login #\ntwo\n#",
  ]);
  assert.deepEqual(texts(["header shell information %", "欢迎", "%", "sysname R1"], huaweiVrp), [
    "header shell information %\n欢迎\n%",
    "sysname R1",
  ]);
});
