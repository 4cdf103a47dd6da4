// Closes, opens and deletes the projects that come and go, and sets them back to snapshots.
import type { PracticeGns3 } from "../../src/practice/gns3_server.ts";
import { asAdmin, newProject, type Place } from "./lab.ts";
import { choose, type Random } from "./random.ts";
import { pause, type Tally } from "./user.ts";

/** Does one thing to one place. Throws when GNS3 refuses. */
export async function operate(
  gns3: PracticeGns3,
  places: Place[],
  random: Random,
  tally: Tally,
): Promise<void> {
  const place = places[Math.floor(random() * places.length)]!;
  const at = `/v3/projects/${place.projectId}`;
  const what = choose(random, [[4, "close and open"], [2, "delete the project"], [
    3,
    "snapshot and restore",
  ]]);
  tally.did.set(what, (tally.did.get(what) ?? 0) + 1);
  if (what === "close and open") {
    await asAdmin(gns3, "POST", `${at}/close`);
    await pause(500 + random() * 2000);
    await asAdmin(gns3, "POST", `${at}/open`);
  } else if (what === "snapshot and restore") {
    const { snapshot_id } = await asAdmin(gns3, "POST", `${at}/snapshots`, { name: `s${random()}` });
    await pause(500 + random() * 2000);
    await asAdmin(gns3, "POST", `${at}/snapshots/${snapshot_id}/restore`);
    await asAdmin(gns3, "DELETE", `${at}/snapshots/${snapshot_id}`);
  } else {
    await asAdmin(gns3, "DELETE", at);
    place.projectId = await newProject(gns3, place.users);
  }
}
