/**
 * Where tests run: among the globals of their worker process, so that what the runtime keeps is of the tests' own realm. Jest
 * gives each file globals of its own, whose every use is slower, and in which all has to be loaded again.
 */
const { TestEnvironment } = require('jest-environment-node');

/** Temporal's part of this process is installed once; another test file installs its own. */
const endTemporal = async () => {
  const { Runtime } = require.cache[require.resolve('@temporalio/worker')]?.exports ?? {};
  await Runtime?._instance?.shutdown();
  if (Runtime) Runtime.defaultOptions = {};
};

module.exports = class OneRealm extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    const { moduleMocker, fakeTimersModern } = this;
    this.global = globalThis;
    this.moduleMocker = new moduleMocker.constructor(globalThis);
    this.fakeTimers = null;
    this.fakeTimersModern = new fakeTimersModern.constructor({ config: config.projectConfig, global: globalThis });
    this.before = {
      names: new Set(Reflect.ownKeys(globalThis)),
      env: { ...process.env },
      exit: process.exit,
      console: globalThis.console,
    };
  }

  async teardown() {
    await super.teardown();
    await endTemporal();
    const { names, env, exit, console } = this.before;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    process.exit = exit;
    globalThis.console = console;
    for (const name of Reflect.ownKeys(globalThis)) if (!names.has(name)) Reflect.deleteProperty(globalThis, name);
  }
};
