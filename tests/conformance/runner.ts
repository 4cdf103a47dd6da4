// The little of vitest that LangGraph's suite uses, counted exactly: describe, it, each, skip and the four hooks.

type Work = () => unknown;
interface Case {
  name: string;
  work: Work | null;
}
interface Group {
  name: string;
  parent: Group | null;
  parts: (Case | Group)[];
  beforeAll: Work[];
  beforeEach: Work[];
  afterEach: Work[];
  afterAll: Work[];
}

/** What a run came to; `failed` holds the full names and messages. */
export interface Outcome {
  run: number;
  skipped: number;
  failed: { name: string; message: string }[];
}

/** Collects what `declare` describes and runs it, one test after the other. */
export async function runSuite(declare: Work): Promise<Outcome> {
  const root = group("", null);
  Object.assign(globalThis, globals(root));
  await declare();
  const outcome: Outcome = { run: 0, skipped: 0, failed: [] };
  await runGroup(root, outcome);
  return outcome;
}

function group(name: string, parent: Group | null): Group {
  return { name, parent, parts: [], beforeAll: [], beforeEach: [], afterEach: [], afterAll: [] };
}

function globals(root: Group): Record<string, unknown> {
  let current = root;
  const describe = (name: string, declare: Work) => {
    const inner = group(name, current);
    current.parts.push(inner);
    current = inner;
    declare();
    current = inner.parent!;
  };
  const it = (name: string, work: Work) => void current.parts.push({ name, work });
  const skip = (name: string) => void current.parts.push({ name, work: null });
  const hook = (kind: "beforeAll" | "beforeEach" | "afterEach" | "afterAll") => (work: Work) =>
    void current[kind].push(work);
  return {
    describe: Object.assign(describe, { each: each(describe) }),
    it: Object.assign(it, { each: each(it), skip }),
    beforeAll: hook("beforeAll"),
    beforeEach: hook("beforeEach"),
    afterEach: hook("afterEach"),
    afterAll: hook("afterAll"),
  };
}

/** `each(rows)(name, work)`: `%s` in the name is the row, `$field` a field of it. */
function each(declare: (name: string, work: Work) => void) {
  return (rows: readonly unknown[]) => (name: string, work: (row: unknown) => unknown) => {
    for (const row of rows) {
      const filled = name.replace("%s", () => String(row))
        .replace(/\$(\w+)/g, (_, field) => String((row as Record<string, unknown>)[field]));
      declare(filled, () => work(row));
    }
  };
}

async function runGroup(current: Group, outcome: Outcome): Promise<void> {
  for (const hook of current.beforeAll) await hook();
  for (const part of current.parts) {
    if ("parts" in part) await runGroup(part, outcome);
    else await runCase(part, current, outcome);
  }
  for (const hook of current.afterAll.reverse()) await hook();
}

async function runCase({ name, work }: Case, parent: Group, outcome: Outcome): Promise<void> {
  if (!work) {
    outcome.skipped++;
    return;
  }
  const groups: Group[] = [];
  for (let up: Group | null = parent; up; up = up.parent) groups.unshift(up);
  outcome.run++;
  try {
    for (const { beforeEach } of groups) for (const hook of beforeEach) await hook();
    try {
      await work();
    } finally {
      for (const { afterEach } of groups.toReversed()) for (const hook of afterEach) await hook();
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    outcome.failed.push({ name: [...groups.slice(1).map((up) => up.name), name].join(" > "), message });
  }
}
