// The options that one command alone has.
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { AppError, errorText } from "../domain/error.ts";

/** The values that were given, by name. */
export type Given = Readonly<Record<string, string | boolean | undefined>>;

/** Reads a command's arguments. Throws `bad_request` with a sentence that names what does not fit. */
export function readOptions(
  command: string,
  args: readonly string[],
  options: ParseArgsOptionsConfig,
  { names = false } = {},
): { values: Given; names: string[] } {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: names });
    return { values: values as Given, names: positionals };
  } catch (error) {
    throw new AppError(
      "bad_request",
      `${errorText(error).split(/[.\n]/)[0]}. --help lists the options of ${command}.`,
    );
  }
}
