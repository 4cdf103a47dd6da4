// The skills folder: what is read of it, what is not, and how it is read again.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { readFolder } from "../../src/knowledge/folder.ts";
import { Skills } from "../../src/knowledge/skills.ts";

interface Folder {
  dir: string;
  /** A place outside of the folder. */
  outside: string;
  put(path: string, text: string | Uint8Array): void;
}

async function withFolder(work: (folder: Folder) => Promise<void>): Promise<void> {
  const base = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "skills-" }));
  const dir = join(base, "skills");
  Deno.mkdirSync(dir);
  const put = (path: string, text: string | Uint8Array) => {
    Deno.mkdirSync(dirname(join(dir, path)), { recursive: true });
    Deno.writeFileSync(join(dir, path), typeof text === "string" ? new TextEncoder().encode(text) : text);
  };
  try {
    await work({ dir, outside: base, put });
  } finally {
    Deno.removeSync(base, { recursive: true });
  }
}

function skillsOf(dir: string) {
  const warnings: string[] = [];
  const skills = new Skills({
    dir,
    builtin: () => Promise.resolve([{ path: "device/ours.yaml", text: "device_type: ours\nname: Ours\n" }]),
    log: { warn: (message, fields) => void warnings.push(`${message} ${JSON.stringify(fields ?? {})}`) },
  });
  return { skills, warnings };
}

Deno.test("only what has a place in the layout is read, in the order of its paths, a device's base first", async () => {
  await withFolder(async ({ dir, put }) => {
    for (
      const path of [
        "README.md",
        "LICENSE",
        ".git/config",
        "device/vpcs.yaml",
        "device/README.md",
        "device/frr/bgp.yaml",
        "device/frr/_base.yaml",
        "device/frr/deeper/x.yaml",
        "device/notes.txt",
        "feature/planner.yml",
        "injection/ospf_issues.yaml",
        "injection/sub/x.yaml",
        "packet_analysis/_tshark_fields.yaml",
        "prompts/title.md",
        "prompts/title.txt",
        "config/forbidden_commands.txt",
        "config/other.txt",
      ]
    ) put(path, "name: x\n");
    const { files, problems } = await readFolder(dir);
    assert.deepEqual(files.map(({ path }) => path), [
      "device/frr/_base.yaml",
      "device/frr/bgp.yaml",
      "device/vpcs.yaml",
      "feature/planner.yml",
      "injection/ospf_issues.yaml",
      "packet_analysis/_tshark_fields.yaml",
      "prompts/title.md",
      "config/forbidden_commands.txt",
    ]);
    assert.deepEqual(problems, []);
  });
});

Deno.test("symbolic links that lead outside are refused, files and folders alike; those inside are followed", async () => {
  await withFolder(async ({ dir, outside, put }) => {
    Deno.writeTextFileSync(join(outside, "secret.yaml"), "name: secret\n");
    Deno.mkdirSync(join(outside, "others"));
    Deno.writeTextFileSync(join(outside, "others", "x.yaml"), "name: secret\n");
    put("device/real.yaml", "name: real\n");
    Deno.symlinkSync(join(outside, "secret.yaml"), join(dir, "device", "stolen.yaml"));
    Deno.symlinkSync(join(outside, "others"), join(dir, "device", "stolen"));
    Deno.symlinkSync(join(outside, "others"), join(dir, "injection"));
    Deno.symlinkSync(join(dir, "device", "real.yaml"), join(dir, "device", "same.yaml"));
    Deno.symlinkSync(join(outside, "nothing"), join(dir, "device", "dangling.yaml"));
    const { files, problems } = await readFolder(dir);
    assert.deepEqual(files.map(({ path, text }) => [path, text]), [
      ["device/real.yaml", "name: real\n"],
      ["device/same.yaml", "name: real\n"],
    ]);
    assert.deepEqual(problems, [
      { file: "device/stolen", problem: "a symbolic link that leads out of the skills folder" },
      { file: "injection", problem: "a symbolic link that leads out of the skills folder" },
      { file: "device/dangling.yaml", problem: "it cannot be read" },
      { file: "device/stolen.yaml", problem: "a symbolic link that leads out of the skills folder" },
    ]);
  });
});

Deno.test("a file that is too large or no text is named, and the folder as a whole has a limit", async () => {
  await withFolder(async ({ dir, put }) => {
    put("device/a.yaml", `name: ${"x".repeat(2000)}\n`);
    put("device/b.yaml", new Uint8Array([0x6e, 0xff, 0xfe]));
    for (const name of ["c", "d", "e", "f"]) put(`device/${name}.yaml`, `name: ${name}\n`);
    const { files, problems } = await readFolder(dir, { files: 3, fileBytes: 1024, totalBytes: 1_000_000 });
    assert.deepEqual(files.map(({ path }) => path), ["device/c.yaml", "device/d.yaml", "device/e.yaml"]);
    assert.deepEqual(problems, [
      { file: "device/a.yaml", problem: "larger than 1 kB" },
      { file: "device/b.yaml", problem: "not UTF-8 text" },
      { file: "device/f.yaml", problem: "left out with all that follow: the folder holds too much" },
    ]);
  });
});

Deno.test("a reload takes the folder as it is then; who has the former set keeps it", async () => {
  await withFolder(async ({ dir, put }) => {
    const { skills, warnings } = skillsOf(dir);
    const before = await skills.current();
    assert.equal(await skills.current(), before);
    assert.deepEqual([...(await before.knowledge()).devices.keys()], ["ours"]);
    put("device/acme.yaml", "device_type: acme\nname: A\n");
    put("device/broken.yaml", "name: [\n");
    assert.equal(await skills.current(), before);
    const after = await skills.reload();
    assert.notEqual(after.version, before.version);
    assert.deepEqual([...(await after.knowledge()).devices.keys()], ["ours", "acme"]);
    assert.deepEqual([...(await before.knowledge()).devices.keys()], ["ours"]);
    assert.equal(skills.loaded, after);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /^A part of the skills was left out\. .*"file":"device\/broken\.yaml"/);
    assert.equal((await skills.reload()).version, after.version);
  });
});

Deno.test("reloads at the same time end with the folder's last state", async () => {
  await withFolder(async ({ dir, put }) => {
    const { skills } = skillsOf(dir);
    const sets = await Promise.all([1, 2, 3].map((n) => {
      put("device/acme.yaml", `device_type: acme_${n}\nname: A\n`);
      return skills.reload();
    }));
    assert.equal(skills.loaded, sets[2]);
    assert.ok((await skills.loaded.knowledge()).devices.has("acme_3"));
  });
});

Deno.test("a folder that is gone: a reload says so and changes nothing, a start goes on with what is embedded", async () => {
  await withFolder(async ({ dir, put }) => {
    put("device/acme.yaml", "device_type: acme\nname: A\n");
    const { skills } = skillsOf(dir);
    const set = await skills.current();
    Deno.renameSync(dir, `${dir}.away`);
    await assert.rejects(skills.reload(), { name: "AppError", code: "unavailable", message: /--skills-dir/ });
    assert.equal(skills.loaded, set);
    const other = skillsOf(dir);
    const { devices, problems } = await (await other.skills.current()).knowledge();
    assert.deepEqual([...devices.keys()], ["ours"]);
    assert.equal(problems.length, 1);
    Deno.renameSync(`${dir}.away`, dir);
    assert.ok((await (await other.skills.reload()).knowledge()).devices.has("acme"));
  });
});

Deno.test("without a folder there is what is embedded, and its version says so", async () => {
  const { skills } = skillsOf("");
  assert.throws(() => skills.loaded, { code: "internal" });
  assert.equal((await skills.current()).version, "builtin");
  assert.equal((await skills.reload()).version, "builtin");
});
