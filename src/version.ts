// The program's version, as `deno.json` has it.
import project from "../deno.json" with { type: "json" };

/** What `--version`, the OpenAPI document and the log say. */
export const VERSION: string = project.version;
