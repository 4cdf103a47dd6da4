// The signals that ask the program to stop.

const SIGNALS: readonly { name: Deno.Signal; exitCode: number }[] = Deno.build.os === "windows"
  ? [{ name: "SIGINT", exitCode: 130 }]
  : [{ name: "SIGINT", exitCode: 130 }, { name: "SIGTERM", exitCode: 143 }];

/** Calls `listener` at every SIGINT and SIGTERM with the exit code that stands for it; returns how to stop that. */
export function onStopSignal(listener: (exitCode: number) => void): () => void {
  const handlers = SIGNALS.map(({ name, exitCode }) => ({ name, handle: () => listener(exitCode) }));
  for (const { name, handle } of handlers) Deno.addSignalListener(name, handle);
  return () => {
    for (const { name, handle } of handlers) Deno.removeSignalListener(name, handle);
  };
}
