// The skills folder in the real process: the Worker may read it, and only it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { startPracticeGns3 } from "../../src/practice/gns3_server.ts";
import { startFromSource, workspace } from "../fakes/program.ts";

Deno.test("the server reads the skills folder in its Worker, never through a link that leads out, and never writes it", async () => {
  const gns3 = await startPracticeGns3();
  const space = workspace();
  const skills = join(space.dir, "skills");
  Deno.mkdirSync(join(skills, "device"), { recursive: true });
  Deno.writeTextFileSync(join(skills, "device", "acme.md"), "---\nname: acme_os\n---\nUse wibble.\n");
  Deno.writeTextFileSync(join(space.dir, "secret.md"), "---\nname: secret\n---\n");
  Deno.symlinkSync(join(space.dir, "secret.md"), join(skills, "device", "stolen.md"));
  Deno.symlinkSync(skills, join(space.dir, "link"));
  const program = startFromSource([
    ...space.options,
    "--gns3-url",
    gns3.url,
    "--skills-dir",
    join(space.dir, "link"),
  ]);
  try {
    const [url] = await program.until(/http:\/\/127\.0\.0\.1:\d+(?=\s+GNS3)/);
    await program.until(/device\/stolen\.md/);
    const answer = await fetch(`${url}/v3/copilot/reload/skills`, {
      method: "POST",
      headers: { authorization: `Bearer ${gns3.tokens.admin}` },
    });
    const body = await answer.json();
    assert.equal(answer.status, 200, JSON.stringify(body));
    assert.equal(body.skill_count, 19, JSON.stringify(body.problems.slice(0, 3)));
    assert.deepEqual(body.problems, [{
      file: "device/stolen.md",
      problem: "a symbolic link that leads out of the skills folder",
    }]);
    assert.deepEqual([...Deno.readDirSync(skills)].map(({ name }) => name), ["device"]);
  } finally {
    program.kill("SIGTERM");
    await program.ended();
    space.close();
    await gns3.close();
  }
});
