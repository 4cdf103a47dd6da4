// Flags, environment and file: precedence, checks, and the sentence for everything that is refused.
import assert from "node:assert/strict";
import { type Config, readConfig } from "../src/config.ts";
import { flagOf, optionsHelp, SETTING_KEYS, SETTINGS, variableOf } from "../src/settings.ts";

interface Given {
  args?: string[];
  env?: Record<string, string>;
  file?: string;
}

function read({ args = [], env = {}, file }: Given) {
  return readConfig({
    args: file === undefined ? args : [...args, "--config", "copilot.yaml"],
    env,
    read: (path) => {
      if (path !== "copilot.yaml") throw new Error("no such file");
      return file!;
    },
  });
}

const config = (given: Given): Config => read(given).config;

function refuses(given: Given, sentence: string | RegExp) {
  assert.throws(
    () => read(given),
    typeof sentence === "string" ? { name: "AppError", message: sentence } : sentence,
  );
}

const MODEL_ENV = { OPENAI_MODEL: "m-1", GNS3_COPILOT_CONTEXT_LIMIT: "128" };

Deno.test("without any option the contract's defaults hold", () => {
  assert.deepEqual(config({}), {
    gns3Url: "http://127.0.0.1:3080",
    projectsDir: "",
    stateDir: "",
    skillsDir: "",
    host: "127.0.0.1",
    port: 3081,
    corsOrigins: [],
    gateway: false,
    gns3User: "",
    heartbeatInterval: 15,
    titleTimeout: 5,
    modelTimeout: 120,
    maxProjects: 64,
    drainTimeout: 20,
    checkpointsKept: 1,
    modelHosts: [],
    turnsPerMinute: 0,
    tokensPerDay: 0,
    groupTokensPerDay: 0,
    consoleTransport: "websocket",
    teachingCanBuild: false,
    snapshotBeforeChanges: false,
    logLevel: "info",
    logFormat: "pretty",
    verbose: false,
    quiet: false,
    model: null,
    gns3Password: null,
    secretKeys: [],
  });
});

Deno.test("a flag beats the environment, which beats the file, which beats the default", () => {
  const file = "port: 1\nmax_projects: 1\nheartbeat_interval: 0.5\n";
  const env = { GNS3_COPILOT_PORT: "2", GNS3_COPILOT_MAX_PROJECTS: "2" };
  const { port, maxProjects, heartbeatInterval, titleTimeout } = config({ args: ["--port", "3"], env, file });
  assert.deepEqual([port, maxProjects, heartbeatInterval, titleTimeout], [3, 2, 0.5, 5]);
});

Deno.test("every option can be given by flag, by environment and by file with the same result", () => {
  const examples: Record<string, [text: string, yaml: string, value: unknown]> = {
    gns3Url: ["https://gns3.example:8443/", "https://gns3.example:8443/", "https://gns3.example:8443"],
    projectsDir: ["/srv/projects", "/srv/projects", "/srv/projects"],
    stateDir: ["~/state", "~/state", "~/state"],
    skillsDir: ["~/skills", "~/skills", "~/skills"],
    host: ["0.0.0.0", "0.0.0.0", "0.0.0.0"],
    port: ["0", "0", 0],
    corsOrigins: [
      "http://a.example, https://b.example:1",
      "[http://a.example, 'https://b.example:1']",
      ["http://a.example", "https://b.example:1"],
    ],
    gateway: ["true", "true", true],
    gns3User: ["copilot", "copilot", "copilot"],
    heartbeatInterval: ["0.25", "0.25", 0.25],
    titleTimeout: ["1.5", "1.5", 1.5],
    modelTimeout: ["30", "30", 30],
    maxProjects: ["7", "7", 7],
    drainTimeout: ["0", "0", 0],
    checkpointsKept: ["3", "3", 3],
    modelHosts: [
      "api.openai.com, *.lab.example,[::1]:11434",
      "[api.openai.com, '*.lab.example', '[::1]:11434']",
      ["api.openai.com", "*.lab.example", "[::1]:11434"],
    ],
    turnsPerMinute: ["6", "6", 6],
    tokensPerDay: ["200000", "200000", 200_000],
    groupTokensPerDay: ["5000000", "5000000", 5_000_000],
    consoleTransport: ["telnet", "telnet", "telnet"],
    teachingCanBuild: ["true", "true", true],
    snapshotBeforeChanges: ["true", "true", true],
    logLevel: ["warn", "warn", "warn"],
    logFormat: ["json", "json", "json"],
    verbose: ["true", "true", true],
    quiet: ["true", "true", true],
  };
  assert.deepEqual(Object.keys(examples), SETTING_KEYS as string[]);
  // Without it a user of the service account is refused.
  const env = { GNS3_COPILOT_GNS3_PASSWORD: "secret" };
  for (const key of SETTING_KEYS) {
    const [text, yaml, value] = examples[key]!;
    const flag = `--${flagOf(key)}`;
    const name = flagOf(key).replaceAll("-", "_");
    assert.deepEqual(config({ args: [flag, text], env })[key], value, flag);
    assert.deepEqual(config({ args: [`${flag}=${text}`], env })[key], value, `${flag}=`);
    assert.deepEqual(config({ env: { ...env, [variableOf(key)]: text } })[key], value, variableOf(key));
    assert.deepEqual(config({ file: `${name}: ${yaml}`, env })[key], value, name);
  }
});

Deno.test("the configuration is frozen and can be sent to a Worker", () => {
  const made = config({ env: MODEL_ENV, args: ["--cors-origins", "https://a.example"] });
  assert.deepEqual(structuredClone(made), made);
  assert.ok(Object.isFrozen(made) && Object.isFrozen(made.model) && Object.isFrozen(made.corsOrigins));
});

Deno.test("an unknown option is refused by name, with what may have been meant", () => {
  refuses({ args: ["--prot", "1"] }, "Unknown option --prot. Did you mean --port?");
  refuses({ args: ["--heartbeat", "1"] }, "Unknown option --heartbeat. Did you mean --heartbeat-interval?");
  refuses({ args: ["--zebra"] }, "Unknown option --zebra. --help lists the options.");
  refuses({ args: ["--gns3_url=x"] }, "Unknown option --gns3_url. Did you mean --gns3-url?");
  refuses({ args: ["-p", "1"] }, "Unexpected argument -p. Options start with --; --help lists them.");
  refuses({ args: ["serve"] }, "Unexpected argument serve. Options start with --; --help lists them.");
  refuses(
    { env: { GNS3_COPILOT_GNS_URL: "x" } },
    "Unknown option GNS3_COPILOT_GNS_URL. Did you mean GNS3_COPILOT_GNS3_URL?",
  );
  refuses({ file: "loglevel: info" }, "Unknown option loglevel in copilot.yaml. Did you mean log_level?");
  refuses({ file: "gns3-url: x" }, "Unknown option gns3-url in copilot.yaml. Did you mean gns3_url?");
  refuses({ file: "config: x" }, /Unknown option config in copilot\.yaml\./);
});

Deno.test("an option that this version does not have yet is refused as such, wherever it stands", () => {
  refuses({ args: ["--protocol=all"] }, "--protocol is not available in this version.");
  refuses({ args: ["--open=true"] }, "--open is not available in this version.");
  refuses(
    { env: { GNS3_COPILOT_DATABASE_URL: "postgres://x" } },
    "GNS3_COPILOT_DATABASE_URL is not available in this version.",
  );
  refuses({ file: "database_url: x" }, "database_url in copilot.yaml is not available in this version.");
});

Deno.test("the service account's password comes from the environment and from nowhere else", () => {
  const env = { GNS3_COPILOT_GNS3_PASSWORD: "hunter22" };
  assert.equal(config({ args: ["--gns3-user", "copilot"], env }).gns3Password, "hunter22");
  assert.equal(config({ file: "gns3_user: copilot", env }).gns3User, "copilot");
  const without = readConfig({ args: [], env, read: () => "" });
  assert.equal(without.config.gns3Password, null);
  assert.deepEqual(without.notes, ["GNS3_COPILOT_GNS3_PASSWORD is not used: --gns3-user names no user."]);
  refuses(
    { args: ["--gns3-user", "copilot"] },
    "The password of --gns3-user copilot is missing: set GNS3_COPILOT_GNS3_PASSWORD.",
  );
  const elsewhere = "is not an option: the password is only taken from GNS3_COPILOT_GNS3_PASSWORD.";
  refuses({ args: ["--gns3-password", "x"] }, `--gns3-password ${elsewhere}`);
  refuses({ file: "gns3_password: x" }, `gns3_password in copilot.yaml ${elsewhere}`);
});

Deno.test("what encrypts stored keys comes from the environment alone, several separated by commas, and is never shown", () => {
  const env = (key: string) => ({ GNS3_COPILOT_SECRET_KEY: key });
  assert.deepEqual(config({ env: env(" new passphrase 123 ,old passphrase 123") }).secretKeys, [
    "new passphrase 123",
    "old passphrase 123",
  ]);
  assert.deepEqual(config({ env: env("") }).secretKeys, []);
  refuses(
    { env: env("new passphrase 123,secret") },
    "GNS3_COPILOT_SECRET_KEY must have at least 16 characters. `openssl rand -base64 32` prints a good one.",
  );
  refuses({ args: ["--secret-key", "new passphrase 123"] }, /^AppError: Unknown option --secret-key\./);
  refuses(
    { file: "secret_key: new passphrase 123" },
    /^AppError: Unknown option secret_key in copilot\.yaml\./,
  );
});

Deno.test("a value that an option cannot have is refused with what it may be", () => {
  const whole = "must be a whole number from 0 to 65535";
  refuses({ args: ["--port", "abc"] }, `--port ${whole}, not "abc".`);
  refuses({ args: ["--port", "80.5"] }, `--port ${whole}, not 80.5.`);
  refuses({ args: ["--port", "65536"] }, `--port ${whole}, not 65536.`);
  refuses({ args: ["--port", "0x50"] }, `--port ${whole}, not "0x50".`);
  refuses({ env: { GNS3_COPILOT_PORT: "-1" } }, `GNS3_COPILOT_PORT ${whole}, not -1.`);
  refuses({ file: "port: '80'" }, `port in copilot.yaml ${whole}, not "80".`);
  refuses({ file: "quiet: 1" }, "quiet in copilot.yaml must be true or false, not 1.");
  refuses(
    { args: ["--log-level", "loud"] },
    '--log-level must be one of error, warn, info, debug, not "loud".',
  );
  refuses({ args: ["--heartbeat-interval", "-1"] }, /--heartbeat-interval must be a number of seconds/);
  refuses({ args: ["--gns3-url", "127.0.0.1:3080"] }, /^AppError: --gns3-url must be an http or https URL/);
  refuses({ args: ["--gns3-url", "ftp://x"] }, /must be an http or https URL/);
  refuses(
    { args: ["--cors-origins", "https://a.example/path"] },
    /--cors-origins must be '\*' or a comma-separated/,
  );
  assert.deepEqual(config({ args: ["--cors-origins", "*"] }).corsOrigins, ["*"]);
  assert.deepEqual(config({ args: ["--cors-origins", ""] }).corsOrigins, []);
});

Deno.test("a password in the GNS3 address is refused without being repeated", () => {
  refuses(
    { args: ["--gns3-url", "http://admin:hunter22@gns3:3080"] },
    "--gns3-url must be an http or https URL without a user name, a query or a fragment.",
  );
});

Deno.test("an option without its value is refused, also when another option follows", () => {
  refuses({ args: ["--port"] }, "--port needs a value.");
  refuses({ args: ["--port", "--quiet"] }, "--port needs a value.");
  refuses({ args: ["--config"] }, "--config needs a value.");
});

Deno.test("switches take a following true or false and swallow nothing else", () => {
  const given = config({ args: ["--quiet", "false", "--verbose", "--port", "9"] });
  assert.deepEqual([given.quiet, given.verbose, given.port], [false, true, 9]);
  refuses({ args: ["--quiet", "serve"] }, /Unexpected argument serve/);
});

Deno.test("verbose means debug and quiet means error, unless a level of higher rank is given", () => {
  assert.equal(config({ args: ["--verbose"] }).logLevel, "debug");
  assert.equal(config({ args: ["--quiet"] }).logLevel, "error");
  assert.equal(config({ args: ["--quiet"], file: "log_level: debug" }).logLevel, "error");
  assert.equal(config({ args: ["--log-level", "warn"], file: "verbose: true" }).logLevel, "warn");
  assert.equal(config({ args: ["--verbose", "--log-level", "warn"] }).logLevel, "warn");
  refuses({ args: ["--verbose", "--quiet"] }, "--verbose and --quiet exclude each other.");
});

Deno.test("an empty environment variable counts as one that is not set", () => {
  assert.equal(config({ env: { GNS3_COPILOT_PORT: "", OPENAI_MODEL: "" } }).port, 3081);
});

Deno.test("the file is found through --config or GNS3_COPILOT_CONFIG, and its faults are told", () => {
  const read = (path: string) => `port: ${path.length}`;
  assert.equal(readConfig({ args: [], env: { GNS3_COPILOT_CONFIG: "abc" }, read }).config.port, 3);
  const env = { GNS3_COPILOT_CONFIG: "abc" };
  assert.equal(readConfig({ args: ["--config", "abcd"], env, read }).config.port, 4);
  refuses({ args: ["--config", "nowhere.yaml"] }, "The configuration file nowhere.yaml cannot be read.");
  refuses({ file: "port: [1" }, /^AppError: The configuration file copilot\.yaml is not YAML: .+ at line 1/);
  refuses({ file: "- port" }, "The configuration file copilot.yaml must hold keys and values.");
  refuses({ file: "just words" }, "The configuration file copilot.yaml must hold keys and values.");
  assert.equal(config({ file: "" }).port, 3081);
  assert.equal(config({ file: "# nothing\nport:\nmodel:\n" }).port, 3081);
});

Deno.test("the environment names the model for everyone", () => {
  const env = {
    OPENAI_BASE_URL: "http://127.0.0.1:11434/v1",
    OPENAI_API_KEY: "key-1",
    OPENAI_MODEL: "m-1",
    GNS3_COPILOT_CONTEXT_LIMIT: "128",
    GNS3_COPILOT_CONTEXT_STRATEGY: "aggressive",
    GNS3_COPILOT_COPILOT_MODE: "lab_automation_assistant",
    GNS3_COPILOT_TEMPERATURE: "0",
    GNS3_COPILOT_MAX_TOKENS: "900",
  };
  assert.deepEqual(config({ env }).model, {
    provider: "openai",
    base_url: "http://127.0.0.1:11434/v1",
    api_key: "key-1",
    model: "m-1",
    temperature: 0,
    max_tokens: 900,
    context_limit: 128,
    context_strategy: "aggressive",
    copilot_mode: "lab_automation_assistant",
  });
});

Deno.test("a model's temperature is 0.7 when nothing gives one, its strategy balanced, its mode teaching", () => {
  const model = config({ env: MODEL_ENV }).model!;
  assert.deepEqual(
    [model.temperature, model.context_strategy, model.copilot_mode, model.max_tokens],
    [0.7, "balanced", "teaching_assistant", undefined],
  );
});

Deno.test("the model of the file has the same fields, and the environment beats it field by field", () => {
  const file = "model:\n  model: from-file\n  context_limit: 32\n  temperature: 0.2\n  provider: anthropic\n";
  const model = config({ file, env: { OPENAI_MODEL: "from-env" } }).model!;
  assert.deepEqual(
    [model.model, model.context_limit, model.temperature, model.provider],
    ["from-env", 32, 0.2, "anthropic"],
  );
});

Deno.test("a model whose provider has no known address is refused before anybody waits for an answer", () => {
  const known = config({ env: { ...MODEL_ENV, GNS3_COPILOT_PROVIDER: "anthropic" } }).model!;
  assert.deepEqual([known.provider, known.base_url], ["anthropic", undefined]);
  refuses(
    { env: { ...MODEL_ENV, GNS3_COPILOT_PROVIDER: "nobody" } },
    'The model configuration needs a base_url: the address of provider "nobody" is not known. Set OPENAI_BASE_URL.',
  );
  refuses(
    { file: "model: { model: m, context_limit: 8, provider: nobody }" },
    'The model configuration needs a base_url: the address of provider "nobody" is not known. ' +
      "Set base_url of model in copilot.yaml, or OPENAI_BASE_URL.",
  );
  const file = "model: { model: m, context_limit: 8, provider: nobody, base_url: 'http://127.0.0.1:9/v1' }";
  assert.equal(config({ file }).model!.provider, "nobody");
});

Deno.test("a key meant for other programs never goes to the endpoint that the file names with its own key", () => {
  const file = "model: { model: m, context_limit: 8, base_url: 'https://a.example/v1', api_key: own-key }";
  const { config, notes } = read({ file, env: { OPENAI_API_KEY: "other-key" } });
  assert.equal(config.model!.api_key, "own-key");
  assert.deepEqual(notes, ["OPENAI_API_KEY is not used: copilot.yaml gives a key for its own base_url."]);
  const bare = "model: { model: m, context_limit: 8, base_url: 'https://a.example/v1' }";
  assert.equal(read({ file: bare, env: { OPENAI_API_KEY: "k" } }).config.model!.api_key, "k");
});

Deno.test("an OpenAI key alone is no model, and says so", () => {
  const { config, notes } = read({ env: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://x" } });
  assert.equal(config.model, null);
  assert.deepEqual(notes, ["OPENAI_API_KEY is not used: OPENAI_MODEL names no model."]);
});

Deno.test("a half-configured model is refused with what is missing and where to set it", () => {
  const advice = "to the model's context window in thousands of tokens.";
  refuses(
    { env: { OPENAI_MODEL: "m" } },
    `context_limit is required in LLM config: set GNS3_COPILOT_CONTEXT_LIMIT ${advice}`,
  );
  refuses(
    { file: "model: { model: m }" },
    `context_limit is required in LLM config: set context_limit of model in copilot.yaml, or GNS3_COPILOT_CONTEXT_LIMIT ${advice}`,
  );
  refuses({ env: { GNS3_COPILOT_CONTEXT_LIMIT: "8" } }, "The model's name is missing: set OPENAI_MODEL.");
  refuses({ env: { GNS3_COPILOT_COPILOT_MODE: "teaching_assistant" } }, /The model's name is missing/);
  for (const bad of ["0", "-4", "1.5", "lots"]) {
    refuses(
      { env: { OPENAI_MODEL: "m", GNS3_COPILOT_CONTEXT_LIMIT: bad } },
      `Invalid context_limit: ${bad}. GNS3_COPILOT_CONTEXT_LIMIT must be a whole number of thousands of tokens above 0.`,
    );
  }
  refuses(
    { file: "model: { model: m, context_limit: '8' }" },
    /^AppError: Invalid context_limit: 8\. context_limit of/,
  );
});

Deno.test("a model's value that is not possible is refused by the name it was given under", () => {
  refuses(
    { env: { ...MODEL_ENV, GNS3_COPILOT_TEMPERATURE: "3" } },
    /^AppError: GNS3_COPILOT_TEMPERATURE is not possible: /,
  );
  refuses(
    { env: { ...MODEL_ENV, GNS3_COPILOT_COPILOT_MODE: "yolo" } },
    /^AppError: GNS3_COPILOT_COPILOT_MODE is not/,
  );
  refuses(
    { env: { ...MODEL_ENV, OPENAI_BASE_URL: "nowhere" } },
    /^AppError: OPENAI_BASE_URL is not possible: /,
  );
  refuses(
    { file: "model: { model: m, context_limit: 8, max_tokens: 0 }" },
    /max_tokens of model in copilot\.yaml is not/,
  );
  refuses({ file: "model: { modle: m }" }, "Unknown key modle of model in copilot.yaml. Did you mean model?");
  refuses({ file: "model: m" }, "model in copilot.yaml must hold keys and values.");
});

Deno.test("the help shows every option with its default", () => {
  const help = optionsHelp();
  for (const key of SETTING_KEYS) assert.ok(help.includes(`  --${flagOf(key)}`), key);
  assert.match(help, /--port PORT +the port to listen on; 0: any free one \(3081\)\n/);
  assert.match(help, /--cors-origins ORIGINS .*\(''\)\n/);
  assert.ok(SETTING_KEYS.every((key) => SETTINGS[key].help.length > 10));
});
