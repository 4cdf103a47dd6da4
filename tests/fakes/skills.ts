// What tools get besides GNS3 and consoles: the embedded skills, and a memory of faults without a database.
import type { FaultRecords, UsedFault } from "../../src/domain/fault.ts";
import { BUILTIN } from "../../src/knowledge/builtin/mod.ts";
import type { SkillFile } from "../../src/knowledge/document.ts";
import { type SkillSet, skillSet } from "../../src/knowledge/skill_set.ts";

/** The embedded skills with `files` over them, as if they were the skills folder's. */
export function skillsWith(...files: SkillFile[]): SkillSet {
  return skillSet({ builtin: () => Promise.resolve(BUILTIN), folder: files, version: "test" });
}

/** Faults of one project in memory, as `user` may add to them. */
export function faultsInMemory(user = "alice"): FaultRecords {
  const faults: UsedFault[] = [];
  return {
    list: () => faults.toReversed(),
    record: (fault, now) => {
      const used = {
        ...fault,
        id: faults.length + 1,
        user_id: user,
        username: user,
        injected_at: now.toISOString(),
      };
      faults.push({ ...used, undone_at: null });
      return faults.at(-1)!;
    },
    undone: (id, now) => {
      const fault = faults.find((one) => one.id === id);
      if (fault) fault.undone_at ??= now.toISOString();
      return fault;
    },
  };
}
