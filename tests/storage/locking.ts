// Started by `lock_test.ts`: holds a folder until it is killed, or takes and leaves it again and again, looking whether
// somebody else is inside.
import { join } from "node:path";
import { lockFolder } from "../../src/storage/lock.ts";

const [folder, rounds] = Deno.args;
if (rounds === undefined) {
  lockFolder(folder!);
  console.log("held");
  await new Promise((resolve) => setTimeout(resolve, 60_000));
}
let inside = 0;
for (let round = 0; round < Number(rounds); round++) {
  let release: () => void;
  try {
    release = lockFolder(folder!);
  } catch {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 2));
    continue;
  }
  // Fails when it is there already.
  Deno.openSync(join(folder!, "inside"), { write: true, createNew: true }).close();
  inside++;
  Deno.removeSync(join(folder!, "inside"));
  release();
}
console.log(inside);
