// Where projects and state are looked for, and the sentences when they are not there.
import assert from "node:assert/strict";
import { join } from "node:path";
import { withDirectories } from "../../src/cli/directories.ts";
import { readConfig } from "../../src/config.ts";

/** A home directory with these files in it; `{home}` in a text stands for its path. */
function withHome(files: Record<string, string>, test: (home: string) => void) {
  const home = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "directories-" }));
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = join(home, name);
      if (name.endsWith("/")) Deno.mkdirSync(path, { recursive: true });
      else {
        Deno.mkdirSync(join(path, ".."), { recursive: true });
        Deno.writeTextFileSync(path, text.replaceAll("{home}", home));
      }
    }
    test(home);
  } finally {
    Deno.removeSync(home, { recursive: true });
  }
}

function find(home: string, args: string[] = [], env: Record<string, string> = {}) {
  const config = readConfig({ args, env: {}, read: () => "" }).config;
  return withDirectories(config, { HOME: home, ...env }, [
    join(home, "etc/xdg/GNS3"),
    join(home, "etc/gns3"),
  ]);
}

Deno.test("GNS3's newest configuration that names projects_path decides", () => {
  const server = (name: string) => `[Server]\nhost = 0.0.0.0\nprojects_path = {home}/${name}\n`;
  withHome({
    "p2/": "",
    "p30/": "",
    "p31/": "",
    "old/": "",
    ".config/GNS3/2.2/gns3_server.conf": server("p2"),
    ".config/GNS3/3.0/gns3_server.conf": server("p30"),
    ".config/GNS3/3.10/gns3_server.conf": server("p31"),
    ".config/GNS3/notes/gns3_server.conf": server("old"),
    ".config/GNS3/gns3_server.conf": server("old"),
  }, (home) => assert.equal(find(home).projectsDir, join(home, "p31")));
});

Deno.test("only projects_path of the section Server counts, and ~ means the home directory", () => {
  withHome({
    "labs/": "",
    ".config/GNS3/3.1/gns3_server.conf":
      "; projects_path = /wrong\n[Qemu]\nprojects_path = /wrong\n[Server]\r\n  projects_path=~/labs  \r\nport = 1\n",
  }, (home) => assert.equal(find(home).projectsDir, join(home, "labs")));
});

Deno.test("a configuration without projects_path is passed over for the next one", () => {
  withHome({
    "system/": "",
    ".config/GNS3/3.1/gns3_server.conf": "[Server]\nport = 3080\n",
    "etc/xdg/GNS3/gns3_server.conf": "[Server]\nprojects_path = {home}/system\n",
    "etc/gns3/gns3_server.conf": "[Server]\nprojects_path = {home}/later\n",
  }, (home) => assert.equal(find(home).projectsDir, join(home, "system")));
});

Deno.test("without any configuration it is ~/GNS3/projects, and --projects-dir beats everything", () => {
  withHome({ "GNS3/projects/": "", "mine/": "" }, (home) => {
    assert.equal(find(home).projectsDir, join(home, "GNS3/projects"));
    assert.equal(find(home, ["--projects-dir", "~/mine"]).projectsDir, join(home, "mine"));
  });
});

Deno.test("directories are resolved, so that a link cannot lead the Worker elsewhere", () => {
  withHome({ "real/": "", "state/": "" }, (home) => {
    Deno.symlinkSync(join(home, "real"), join(home, "link"));
    const found = find(home, [
      "--projects-dir",
      join(home, "link/../link"),
      "--state-dir",
      join(home, "state"),
    ]);
    assert.deepEqual([found.projectsDir, found.stateDir], [join(home, "real"), join(home, "state")]);
    assert.ok(Object.isFrozen(found));
  });
});

Deno.test("a projects directory that is missing or no directory is refused with the option to give", () => {
  withHome({ "file": "x" }, (home) => {
    const advice = "Name GNS3's projects directory with --projects-dir.";
    assert.throws(() => find(home), {
      name: "AppError",
      message: `The projects directory ${home}/GNS3/projects does not exist. ${advice}`,
    });
    assert.throws(() => find(home, ["--projects-dir", `${home}/file`]), {
      message: `The projects directory ${home}/file is not a directory. ${advice}`,
    });
    assert.throws(() => find(home, [], { HOME: "" }), {
      message: /no home directory \(HOME\): give --projects-dir\./,
    });
  });
});

Deno.test("the state directory is created for its owner only", () => {
  withHome({ "GNS3/projects/": "" }, (home) => {
    const path = find(home).stateDir;
    assert.equal(path, join(home, ".local/state/gns3-copilot"));
    assert.equal(Deno.statSync(path).mode! & 0o777, 0o700);
    assert.equal(
      find(home, [], { XDG_STATE_HOME: join(home, "xdg") }).stateDir,
      join(home, "xdg/gns3-copilot"),
    );
    Deno.writeTextFileSync(join(home, "file"), "");
    assert.throws(() => find(home, ["--state-dir", join(home, "file")]), {
      message: `The state directory ${home}/file is not a directory. Name another with --state-dir.`,
    });
    assert.throws(() => find(home, ["--state-dir", join(home, "file/below")]), {
      message: `The state directory ${home}/file/below cannot be created. Name another with --state-dir.`,
    });
  });
});

Deno.test("the skills directory is none unless it is given; then it is resolved, and must be there", () => {
  withHome({ "GNS3/projects/": "", "skills/": "", "file": "x" }, (home) => {
    assert.equal(find(home).skillsDir, "");
    Deno.symlinkSync(join(home, "skills"), join(home, "link"));
    assert.equal(find(home, ["--skills-dir", "~/link"]).skillsDir, join(home, "skills"));
    for (const [name, why] of [["nothing", "does not exist"], ["file", "is not a directory"]]) {
      assert.throws(() => find(home, ["--skills-dir", join(home, name!)]), {
        name: "AppError",
        message: `The skills directory ${home}/${name} ${why}. Name another with --skills-dir.`,
      });
    }
  });
});
