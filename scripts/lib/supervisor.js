/** Keeps the processes of a system running: starts them in order, restarts what dies, ends them all, and keeps the record. */

const fs = require('node:fs');
const path = require('node:path');
const { becomesReady, start, tail } = require('./child');
const { identify } = require('./processes');
const { lastLine, run } = require('./run');
const { recordOf } = require('./orphans');
const { Stop, say } = require('./say');
const { writeFile } = require('./paths');
const { setTimeout: pause } = require('node:timers/promises');

/** Wait before the n-th restart in a row; a process that stayed up for a minute starts counting anew. */
const backOffMs = (restarts) => Math.min(15_000, 250 * 2 ** restarts);
const steadyMs = 60_000;

class Supervisor {
  /** name -> { running, restarts, since } in order of start */
  #entries = new Map();
  #stopping = false;
  #over = new AbortController();

  /** @param {string} dir the data folder: logs and the record live in it */
  constructor(dir) {
    this.dir = dir;
    this.logs = path.join(dir, 'logs');
    this.addresses = {};
    fs.mkdirSync(this.logs, { recursive: true, mode: 0o700 });
    this.note();
  }

  logOf(name) {
    return path.join(this.logs, `${name}.log`);
  }

  /** Writes down who runs, so that they can be found again should we be killed. */
  note() {
    const processes = [...this.#entries].map(([name, { running, restarts }]) => ({
      name,
      ...running.identity,
      restarts,
      stopSignal: running.spec.stopSignal,
      log: this.logOf(name),
    }));
    const record = { owner: identify(process.pid), data: this.dir, addresses: this.addresses, processes };
    writeFile(recordOf(this.dir), `${JSON.stringify(record, null, 2)}\n`, 0o600);
  }

  /**
   * Starts a process and watches it from then on.
   * @param {import('./child').ChildSpec} spec
   * @throws Stop with the end of its log, when it does not become ready
   */
  async start(spec) {
    let trouble = await this.#launch(spec, 0);
    for (let tried = 1; trouble && this.#mayTryAgain(spec, tried); tried++) {
      await pause(500, undefined, { signal: this.#over.signal }).catch(() => {});
      trouble = await this.#launch(spec, 0);
    }
    if (trouble) throw new Stop(`${spec.name} did not start: ${trouble}\n${tail(this.logOf(spec.name))}`);
    void this.#watch(spec.name);
  }

  #mayTryAgain({ name, tries = 1 }, tried) {
    return tried < tries && !this.#stopping && this.#entries.get(name)?.running.isOver();
  }

  /** A process that has a file of its name in the folder `hold` stays away until the file is gone: its data is being replaced. */
  async #released(name) {
    const file = path.join(this.dir, 'hold', name);
    while (!this.#stopping && fs.existsSync(file)) await pause(100);
  }

  async #launch(spec, restarts) {
    await this.#released(spec.name);
    await spec.beforeStart?.();
    if (this.#stopping) return 'we are stopping';
    const running = start(spec, this.logOf(spec.name));
    this.#entries.set(spec.name, { running, restarts, since: Date.now() });
    this.note();
    return becomesReady(running);
  }

  async #watch(name) {
    for (;;) {
      const { running, restarts, since } = this.#entries.get(name);
      const how = await running.exited;
      if (this.#stopping) return;
      const inARow = Date.now() - since > steadyMs ? 0 : restarts;
      say(`${name} ended with ${how}; starting it again in ${backOffMs(inARow) / 1000} s`);
      await pause(backOffMs(inARow), undefined, { signal: this.#over.signal }).catch(() => {});
      if (this.#stopping) return;
      const trouble = await this.#launch(running.spec, inARow + 1).catch((failure) => failure.message);
      if (this.#stopping) return;
      say(trouble ? `${name} is not ready: ${trouble}` : `${name} is ready again`);
    }
  }

  /** Runs a one-shot to its end. Its output is in its log. */
  async once({ name, command, args, options }) {
    const log = fs.openSync(this.logOf(name), 'a', 0o600);
    const answer = await run(command, args, { ...options, stdio: ['ignore', log, log] });
    fs.closeSync(log);
    const ending = lastLine(tail(this.logOf(name)));
    if (!answer.ok) throw new Stop(`${name} failed (${answer.reason}): ${ending}\n${tail(this.logOf(name))}`);
  }

  /** Ends everything: first all that use the servers, at once, then the servers, last started first. */
  async stop() {
    this.#stopping = true;
    this.#over.abort();
    const all = [...this.#entries.values()].map(({ running }) => running).reverse();
    await Promise.all(all.filter(({ spec }) => spec.ipc).map((running) => running.stop()));
    for (const running of all.filter(({ spec }) => !spec.ipc)) await running.stop();
    fs.rmSync(recordOf(this.dir), { force: true });
  }
}

module.exports = { Supervisor };
