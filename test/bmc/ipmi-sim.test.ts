/** The ipmi driver on ipmi_sim beyond the contract: wrong accounts, silence, keys, and what other users of the worker can see. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createDrivers } from '../../src/bmc';
import type { ActContext, DriverDeps } from '../../src/bmc/contract';
import { isTemperError, type TemperError } from '../../src/model/errors';
import type { ActName } from '../../src/model/lifecycle/steps';
import { account, ipmiMissing, ipmiPrograms, type Sim, type SimOptions, startSim } from '../support/ipmi';
import { contextWith, hasty, intentsOf, nodeWith, quickTiming, quiet } from './support/context';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const bench = async (
  info: Record<string, unknown> = {},
  options: SimOptions = {},
  deps: Partial<DriverDeps> = {},
): Promise<{
  sim: Sim;
  run: (act: ActName, args?: object, more?: Partial<ActContext>) => Promise<unknown>;
  failure: (act: ActName, args?: object, more?: Partial<ActContext>) => Promise<TemperError>;
}> => {
  const sim = await startSim(options);
  const drivers = createDrivers({
    log: quiet,
    networks: ['127.0.0.0/8'],
    limits: { ...hasty, answerMs: 12_000 },
    ipmitool: ipmiPrograms().ipmitool,
    ...deps,
  });
  open.push(sim, drivers);
  const node = nodeWith('ipmi', { ...sim.driver_info, ...info });
  const run = async (act: ActName, args = {}, more: Partial<ActContext> = {}) =>
    drivers.get('ipmi').acts[act]!(node, args as Record<string, unknown>, contextWith(intentsOf(act), more));
  const failure = async (act: ActName, args = {}, more: Partial<ActContext> = {}) => {
    const thrown: unknown = await run(act, args, more).catch((error: unknown) => error);
    if (!isTemperError(thrown)) throw new Error(`no error of the list: ${JSON.stringify(thrown)} ${String(thrown)}`);
    return thrown;
  };
  return { sim, run, failure };
};

type Seen = { readonly text: string; readonly secretFile: string };

/** Command line, environment and password file of the ipmitool processes that mention this port. */
const processesWith = (port: number): Seen[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [cmdline, environ] = ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'latin1'));
        if (!cmdline!.includes('ipmitool') || !cmdline!.includes(`\0${port}\0`)) return [];
        return [{ text: `${cmdline} ${environ}`, secretFile: readlinkSync(`/proc/${pid}/fd/3`) }];
      } catch {
        return []; // it ended meanwhile
      }
    });

const suite = ipmiMissing === undefined ? describe : describe.skip;

suite(`ipmi on ipmi_sim${ipmiMissing ? ` (${ipmiMissing})` : ''}`, () => {
  test('a wrong password is said to be one, is not in the error, and nothing is sent', async () => {
    const { sim, failure } = await bench({ ipmi_password: 'wrong-secret' });
    const error = await failure('power_on');
    expect(error).toMatchObject({ code: 'BmcAuthFailed', retry: false });
    expect(JSON.stringify([error.message, error.facts])).not.toContain('wrong-secret');
    expect(sim.journal()).toEqual([]);
  });

  test('an account that the BMC does not know is refused like a wrong password', async () => {
    const { failure } = await bench({ ipmi_username: 'nobody' });
    expect((await failure('verify')).code).toBe('BmcAuthFailed');
  });

  test('a missing password does not make ipmitool ask for one', async () => {
    const { failure } = await bench({ ipmi_password: undefined });
    expect((await failure('verify')).code).toBe('BmcAuthFailed');
  });

  test('a cipher suite that the BMC does not have is refused when the node names it', async () => {
    const { failure } = await bench({ ipmi_cipher_suite: 17 });
    expect(await failure('verify')).toMatchObject({
      code: 'BmcRejected',
      message: expect.stringContaining('algorithm'),
    });
  });

  test('where the node names no cipher suite one is found, and the next act does not search again', async () => {
    const asked: number[] = [];
    const observe = { request: (_: string, ms: number) => void asked.push(ms) };
    const { run } = await bench({ ipmi_cipher_suite: undefined }, {}, { observe });
    await expect(run('power_on')).resolves.toMatchObject({ seen: { power_state: 'power on' } });
    // ipmitool waits several seconds for a BMC that does not tell its suites; only the first call may.
    expect(Math.max(...asked.slice(1))).toBeLessThan(asked[0]!);
    expect(asked.length).toBeGreaterThan(2);
  });

  test('a BMC with a key of its own is opened with it, bytes beyond ASCII included, and not without', async () => {
    const ipmi_hex_kg_key = '6162ff8001fe';
    const keyed = await bench({ ipmi_hex_kg_key }, { kgKey: ipmi_hex_kg_key });
    await expect(keyed.run('verify')).resolves.toMatchObject({ seen: { power_state: 'power off' } });
    const without = await bench({}, { kgKey: ipmi_hex_kg_key });
    expect((await without.failure('verify')).code).toBe('BmcAuthFailed');
  });

  test('a silent BMC is unreachable, which may be tried again', async () => {
    const { sim, failure } = await bench({}, {}, { limits: { ...hasty, answerMs: 1_000 } });
    sim.silence(true);
    expect(await failure('verify')).toMatchObject({ code: 'BmcUnreachable', retry: true });
  });

  test('while ipmitool runs no process sees the password or the key, and no file of them is left', async () => {
    const { sim, failure } = await bench({ ipmi_hex_kg_key: '7365637265742d6b6579' });
    const worker = new AbortController();
    sim.silence(true);
    const failed = failure('verify', {}, { signal: worker.signal }).catch((error: unknown) => error);
    let seen: Seen[] = [];
    while (seen.length === 0) {
      await new Promise((done) => setImmediate(done));
      seen = processesWith(sim.driver_info.ipmi_port);
    }
    worker.abort(new Error('stop'));
    await failed;
    for (const { secretFile } of seen) expect(secretFile).toMatch(/ \(deleted\)$/);
    for (const { text } of seen)
      for (const secret of [account.password, 'secret-key', '7365637265742d6b6579']) expect(text).not.toContain(secret);
    expect(processesWith(sim.driver_info.ipmi_port)).toEqual([]);
  });

  test('an answer that is lost after the command was obeyed is found by looking', async () => {
    const { sim, run } = await bench({}, {}, { limits: { ...hasty, answerMs: 1_500 } });
    sim.proxy.onAnswer = () => (sim.journal().length > 0 && sim.power() === '1' && !looked ? 'cut' : undefined);
    let looked = false;
    const beat = (details?: Readonly<Record<string, unknown>>) => {
      looked ||= details?.doing === 'waiting';
    };
    const log = {
      info: () => undefined,
      // "A command got no answer": from here on answers come through.
      warn() {
        looked = true;
      },
    };
    await expect(run('power_on', {}, { beat, log })).resolves.toMatchObject({ seen: { power_state: 'power on' } });
    expect(sim.journal()).toEqual(['set power 1']);
  });

  test('a node that ignores the polite request is not forced, and the run says so', async () => {
    const { sim, run, failure } = await bench(
      {},
      { first: 'if [ "$1 $2" = "set shutdown" ]; then echo "$*" >> journal; exit 0; fi' },
    );
    await run('power_on');
    const timing = { ...quickTiming, softPowerTimeoutMs: 300 };
    expect(await failure('soft_power_off', {}, { timing })).toMatchObject({ code: 'BmcStuck' });
    expect(sim.journal()).toEqual(['set power 1', 'set shutdown 1']);
  });

  test('a chassis that does nothing is a timeout which says what was last seen', async () => {
    const { sim, failure } = await bench({}, { first: 'if [ "$1" = set ]; then echo "$*" >> journal; exit 0; fi' });
    const timing = { ...quickTiming, powerTimeoutMs: 300 };
    expect(await failure('power_on', {}, { timing })).toMatchObject({
      code: 'BmcTimeout',
      facts: { seen: 'power off' },
    });
    expect(sim.journal()).toEqual(['set power 1']);
  });

  test.each(['uefi', 'bios'])('the boot device is set and read back in %s mode', async (boot_mode) => {
    const { sim, run } = await bench();
    const drivers = createDrivers({
      log: quiet,
      networks: ['127.0.0.0/8'],
      limits: { ...hasty, answerMs: 12_000 },
      ipmitool: ipmiPrograms().ipmitool,
    });
    open.push(drivers);
    const node = { ...nodeWith('ipmi', sim.driver_info), boot_mode };
    const context = contextWith(intentsOf('set_boot_device'));
    const set = await drivers.get('ipmi').acts.set_boot_device!(node, { boot_device: 'cdrom' }, context);
    expect(set).toMatchObject({ note: 'cdrom, for the next boot' });
    expect(sim.boot()).toBe('cdrom');
    await expect(run('read_boot_device')).resolves.toMatchObject({
      value: { boot_device: 'cdrom', persistent: false },
    });
  });

  test('raw bytes are sent once, and what the BMC answers stands in the note', async () => {
    const { sim, run } = await bench();
    const intents = intentsOf('send_raw');
    const args = { raw_bytes: '0x00 0x02 0x01' };
    await expect(run('send_raw', args, { intents })).resolves.toMatchObject({ note: 'answered without data' });
    await expect(run('send_raw', args, { intents, attempt: 2 })).resolves.toMatchObject({ is: 'done' });
    expect(sim.journal()).toEqual(['set power 1']);
    await expect(run('send_raw', { raw_bytes: '0x06 0x01' })).resolves.toMatchObject({
      note: expect.stringMatching(/^answered 00 [0-9a-f ]+$/),
    });
  });

  test('an interrupt that the BMC refuses is refused, and one for a node that is off is not sent', async () => {
    const { sim, run, failure } = await bench();
    expect((await failure('inject_nmi')).code).toBe('StepRejected');
    await run('power_on');
    expect((await failure('inject_nmi')).code).toBe('BmcRejected');
    expect(sim.journal()).toEqual(['set power 1']);
  });
});
