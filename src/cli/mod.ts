// The program's commands, and the choice between them.
import { AppError } from "../domain/error.ts";
import { createRedactor } from "../redact.ts";
import { suggest } from "../suggest.ts";
import { VERSION } from "../version.ts";
import { backup } from "./backup.ts";
import { check } from "./check.ts";
import type { Command, CommandContext } from "./command.ts";
import { demo } from "./demo.ts";
import { rekey } from "./rekey.ts";
import { serve } from "./serve.ts";

/** Every command; the first is meant when none is named. */
export const COMMANDS: readonly Command[] = [serve, demo, check, backup, rekey];

function help(command: Command): string {
  const commands = COMMANDS.map(({ name, summary }) => `  gns3-copilot ${name.padEnd(8)}${summary}`).join(
    "\n",
  );
  return `GNS3 Copilot Server ${VERSION}\n\n${commands}\n\nOptions of ${command.name}:\n${command.options()}`;
}

/**
 * Runs the command that `args` name and resolves to the exit code. What a person must mend is told in a sentence on
 * `complain`, which gets one line a call.
 */
export async function runCommand(
  args: readonly string[],
  context: CommandContext & { complain(text: string): void },
): Promise<number> {
  const named = args[0] !== undefined && !args[0].startsWith("-") ? args[0] : undefined;
  const command = named === undefined ? COMMANDS[0]! : COMMANDS.find(({ name }) => name === named);
  if (!command) {
    const near = suggest(named!, COMMANDS.map(({ name }) => name));
    const advice = near
      ? `Did you mean ${near}?`
      : `Commands: ${COMMANDS.map(({ name }) => name).join(", ")}.`;
    context.complain(`Unknown command ${named}. ${advice}`);
    return 1;
  }
  const rest = named === undefined ? args : args.slice(1);
  if (rest.includes("--version")) return context.print(`gns3-copilot ${VERSION}`), 0;
  if (rest.includes("--help") || rest.includes("-h")) return context.print(help(command)), 0;
  try {
    return await command.run(rest, context);
  } catch (error) {
    if (error instanceof AppError) context.complain(error.message);
    else {
      const { fault } = createRedactor({ stacks: true }).fields({ fault: error });
      context.complain(`This is a fault of this program: ${fault}`);
    }
    return 1;
  }
}
