// What a command of the program is, and what it gets.

/** What a command may use of the process around it. */
export interface CommandContext {
  env: Readonly<Record<string, string>>;
  /** The Worker's entry: a source file, or its bundle inside the executable. */
  workerUrl: URL;
  /** Writes a line for the person who started the program. */
  print(text: string): void;
}

/** One command. `run` resolves to the exit code; an AppError that it throws is printed as a sentence. */
export interface Command {
  name: string;
  /** One line for `--help`. */
  summary: string;
  /** The options as `--help` shows them. */
  options(): string;
  run(args: readonly string[], context: CommandContext): Promise<number>;
}
