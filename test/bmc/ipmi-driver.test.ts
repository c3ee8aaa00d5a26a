/** What the ipmi driver hands to ipmitool, and what it makes of answers that no simulator gives. */
import { createDrivers } from '../../src/bmc';
import type { ActContext, DriverDeps } from '../../src/bmc/contract';
import { isTemperError, type TemperError } from '../../src/model/errors';
import type { ActName } from '../../src/model/lifecycle/steps';
import { type Line, startStandIn } from '../support/ipmi-stand-in';
import { contextWith, hasty, type Intents, intentsOf, nodeWith, quickTiming, quiet } from './support/context';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const off: Line = { out: 'Chassis Power is off\n' };
const on: Line = { out: 'Chassis Power is on\n' };
const maker: Line = { out: 'Manufacturer ID           : 343\nManufacturer Name         : Intel Corporation\n' };
const noSession = 'Error: Unable to establish IPMI v2 / RMCP+ session\n';

type More = Partial<ActContext> & { intents?: Intents };

const bench = async (
  lines: Readonly<Record<string, readonly Line[]>>,
  info: Record<string, unknown> = {},
  deps: Partial<DriverDeps> = {},
) => {
  const tool = await startStandIn(lines);
  const limits = { ...hasty, answerMs: 20_000, ...deps.limits };
  const drivers = createDrivers({ log: quiet, networks: [], ipmitool: tool.program, ...deps, limits });
  open.push(tool, drivers);
  const driver = drivers.get('ipmi');
  const node = nodeWith('ipmi', {
    ipmi_address: '192.0.2.7',
    ipmi_username: 'root',
    ipmi_password: 'a-long-secret',
    ...info,
  });
  const run = async (act: ActName, args: object = {}, more: More = {}) =>
    driver.acts[act]!(node, args as Record<string, unknown>, contextWith(more.intents ?? intentsOf(act), more));
  return {
    tool,
    driver,
    node,
    run,
    failure: async (act: ActName, args: object = {}, more: More = {}): Promise<TemperError> => {
      const thrown: unknown = await run(act, args, more).catch((error: unknown) => error);
      if (!isTemperError(thrown)) throw new Error(`no error of the list: ${JSON.stringify(thrown)} ${String(thrown)}`);
      return thrown;
    },
  };
};

const words = (args: readonly string[], flag: string): string | undefined =>
  args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;

describe('what ipmitool is given', () => {
  const look = { 'power status': [off], 'mc info': [maker] };

  test('the password goes by a file, and nothing of the worker’s environment is passed on', async () => {
    const { tool, run } = await bench(look);
    await expect(run('verify')).resolves.toMatchObject({
      seen: { power_state: 'power off', vendor: 'Intel Corporation' },
    });
    const [first] = tool.heard();
    expect(first).toMatchObject({ secret: 'a-long-secret', input: '' });
    expect(first!.args.join(' ')).not.toContain('a-long-secret');
    expect(Object.keys(first!.env).sort()).toEqual(['LC_ALL', 'PATH']);
  });

  test('a look at power alone is one call', async () => {
    const { tool, run } = await bench({ 'power status': [off] });
    await expect(run('verify', { only: 'power' })).resolves.toEqual({ is: 'done', seen: { power_state: 'power off' } });
    expect(tool.heard()).toHaveLength(1);
  });

  test('an empty password is a NUL byte, for which ipmitool does not ask', async () => {
    const { tool, run } = await bench(look, { ipmi_password: '' });
    await run('verify');
    expect(tool.heard()[0]!.secret).toBe('\0');
  });

  test('the defaults are IPMI 2.0, port 623 and the administrator’s privilege', async () => {
    const { tool, run } = await bench(look);
    await run('verify');
    const { args } = tool.heard()[0]!;
    expect([words(args, '-I'), words(args, '-H'), words(args, '-p'), words(args, '-L'), words(args, '-U')]).toEqual([
      'lanplus',
      '192.0.2.7',
      '623',
      'ADMINISTRATOR',
      'root',
    ]);
    expect(args).not.toContain('-C');
  });

  test('every field of driver_info reaches its option', async () => {
    const { tool, run } = await bench(look, {
      ipmi_port: '6230',
      ipmi_priv_level: 'operator',
      ipmi_cipher_suite: '3',
      ipmi_bridging: 'dual',
      ipmi_local_address: '0x20',
      ipmi_transit_channel: '0',
      ipmi_transit_address: '0x82',
      ipmi_target_channel: '7',
      ipmi_target_address: '0x72',
    });
    await run('verify');
    expect(tool.heard()[0]!.args.join(' ')).toContain(
      '-p 6230 -L OPERATOR -U root -C 3 -m 0x20 -B 0 -T 0x82 -b 7 -t 0x72',
    );
  });

  test('the BMC’s key goes by standard input, its bytes as they are', async () => {
    const { tool, run } = await bench(look, { ipmi_hex_kg_key: 'ff80010000' });
    await run('verify');
    expect(tool.heard()[0]).toMatchObject({ input: 'ff80010a' });
    expect(tool.heard()[0]!.args.join(' ')).not.toContain('ff80');
  });

  test('IPMI 1.5 has a transport of its own and no cipher suites', async () => {
    const { tool, run } = await bench(look, { ipmi_protocol_version: '1.5' });
    await run('verify');
    expect(words(tool.heard()[0]!.args, '-I')).toBe('lan');
  });

  test.each([
    ['ipmi_address', { ipmi_address: 'https://192.0.2.7' }],
    ['ipmi_address', { ipmi_address: '-H other' }],
    ['ipmi_address', { ipmi_address: '' }],
    ['ipmi_port', { ipmi_port: 70_000 }],
    ['ipmi_username', { ipmi_username: 'seventeen-letters' }],
    ['ipmi_password', { ipmi_password: 'two\nlines' }],
    ['ipmi_password', { ipmi_password: 'longer than twenty bytes' }],
    ['ipmi_priv_level', { ipmi_priv_level: 'ROOT' }],
    ['ipmi_protocol_version', { ipmi_protocol_version: '3.0' }],
    ['ipmi_cipher_suite', { ipmi_cipher_suite: '17; reboot' }],
    ['ipmi_cipher_suite', { ipmi_cipher_suite: 3, ipmi_protocol_version: '1.5' }],
    ['ipmi_hex_kg_key', { ipmi_hex_kg_key: 'abc' }],
    ['ipmi_hex_kg_key', { ipmi_hex_kg_key: 'ab00cd' }],
    ['ipmi_bridging', { ipmi_bridging: 'triple' }],
    ['ipmi_target_channel', { ipmi_bridging: 'single', ipmi_target_address: '0x72' }],
    ['ipmi_target_address', { ipmi_bridging: 'single', ipmi_target_channel: 0, ipmi_target_address: '0x72 -v' }],
    ['ipmi_disable_boot_timeout', { ipmi_disable_boot_timeout: 'maybe' }],
  ])('a %s that cannot be used is refused by name before anything runs', async (field, info) => {
    const { tool, failure } = await bench(look, info);
    const error = await failure('verify');
    expect(error).toMatchObject({ code: 'DriverInfoInvalid', facts: { field } });
    expect(error.message).not.toContain('longer than twenty bytes');
    expect(tool.heard()).toEqual([]);
  });

  test('the lane is the BMC’s address and port, however the name is written', async () => {
    const { driver, node } = await bench(look, { ipmi_address: 'BMC-7.example.org' });
    expect(driver.laneKey(node)).toBe('ipmi:bmc-7.example.org:623');
    expect(driver.laneKey({ ...node, driver_info: { ipmi_address: '2001:db8::7', ipmi_port: 624 } })).toBe(
      'ipmi:[2001:db8::7]:624',
    );
  });
});

describe('where it connects', () => {
  const look = { 'power status': [off], 'mc info': [maker] };

  test('a name is resolved once, and ipmitool gets the address that was checked', async () => {
    const lookup = jest.fn(async () => ['198.51.100.9']);
    const { tool, run } = await bench(
      { 'power status': [off], 'mc info': [maker] },
      { ipmi_address: 'bmc.example.org' },
      { networks: ['198.51.100.0/24'], lookup },
    );
    await run('verify');
    expect(tool.heard().map(({ args }) => words(args, '-H'))).toEqual(['198.51.100.9', '198.51.100.9']);
    expect(lookup).toHaveBeenCalledTimes(2);
  });

  test.each([
    ['an address', '203.0.113.9', []],
    ['a name', 'bmc.example.org', ['203.0.113.9']],
    ['a name with one address too many', 'bmc.example.org', ['192.0.2.7', '203.0.113.9']],
  ])('%s outside the operator’s networks is refused, and nothing runs', async (_, ipmi_address, resolved) => {
    const { tool, failure } = await bench(
      look,
      { ipmi_address },
      { networks: ['192.0.2.0/24'], lookup: async () => resolved },
    );
    expect((await failure('power_on')).code).toBe('BmcAddressRefused');
    expect(tool.heard()).toEqual([]);
  });

  test('a name that does not resolve is unreachable', async () => {
    const lookup = () => Promise.reject(new Error('ENOTFOUND'));
    const { failure } = await bench(look, { ipmi_address: 'bmc.example.org' }, { lookup });
    expect(await failure('verify')).toMatchObject({ code: 'BmcUnreachable', retry: true });
  });

  test('a worker without ipmitool says what to install', async () => {
    const { failure } = await bench(look, {}, { ipmitool: '/nowhere/ipmitool' });
    const error = await failure('verify');
    expect(error).toMatchObject({ code: 'ProgramMissing', retry: false });
    expect(error.message).toContain('apt-get install ipmitool');
  });
});

describe('what it makes of answers', () => {
  test.each<[string, Line, string]>([
    ['garbage', { out: 'Chassis Power is maybe\n' }, 'BmcServerError'],
    ['an empty answer', { out: '' }, 'BmcServerError'],
    ['an answer with more after it', { out: 'Chassis Power is on\nChassis Power is off\n' }, 'BmcServerError'],
    ['a page of HTML', { out: '<html><title>Chassis Power is on</title></html>' }, 'BmcServerError'],
    ['an answer without end', { out: 'x'.repeat(4_096), flood: true }, 'BmcUnreachable'],
    [
      'a full session table',
      { err: `RAKP 2 message indicates an error : insufficient resources for session\n${noSession}`, status: 1 },
      'BmcBusy',
    ],
    ['a busy BMC', { err: 'Unable to Get Chassis Power Status failed: Node busy\n', status: 1 }, 'BmcBusy'],
    ['a BMC that starts', { err: 'x failed: BMC initialization in progress\n', status: 1 }, 'BmcBusy'],
    ['a wrong password', { err: `> RAKP 2 HMAC is invalid\n${noSession}`, status: 1 }, 'BmcAuthFailed'],
    ['a failure that ends with status 0', { err: noSession, status: 0 }, 'BmcUnreachable'],
    ['too little privilege', { err: 'x failed: Insufficient privilege level\n', status: 1 }, 'BmcRejected'],
    ['a command it does not know', { err: 'x failed: Invalid command\n', status: 1 }, 'BmcUnsupported'],
    ['no answer to the command', { err: 'Unable to get chassis power status\n', status: 1 }, 'BmcUnreachable'],
  ])('%s ends verify with an error of its class', async (_, line, code) => {
    const { failure } = await bench({ 'power status': [line] });
    expect((await failure('verify')).code).toBe(code);
  });

  test('words on the error stream beside a good answer are no failure', async () => {
    const err = 'IANA PEN registry open failed: No such file\nUnable to Get Channel Cipher Suites\n';
    const { run } = await bench({ 'power status': [{ ...on, err }], 'mc info': [maker] });
    await expect(run('verify')).resolves.toMatchObject({ seen: { power_state: 'power on' } });
  });

  test.each(['a-long-secret', 'calvin', '1234567', 'adm'])('%s that ipmitool repeats is masked', async (password) => {
    const { failure } = await bench(
      { any: [{ err: `x failed: no ${password} here\n`, status: 1 }] },
      { ipmi_password: password },
    );
    const error = await failure('verify');
    expect(error.message).toContain('no ****** here');
    expect(JSON.stringify(error.facts)).not.toContain(password);
  });

  test('cipher suites are tried in turn, and the one that works is kept', async () => {
    const refused = (why: string): Line => ({
      err: `Error in open session response message : ${why}\n${noSession}`,
      status: 1,
    });
    const { tool, run } = await bench({
      'power status': [refused('no matching cipher suite'), refused('invalid role'), off],
      'mc info': [maker],
    });
    await run('verify');
    expect(tool.heard().map(({ args }) => words(args, '-C'))).toEqual([undefined, '17', '3', '3']);
  });

  test('a hung call is killed after its limit', async () => {
    const { tool, failure } = await bench(
      { 'power status': [{ hang: true }] },
      {},
      { limits: { ...hasty, answerMs: 500 } },
    );
    expect(await failure('verify')).toMatchObject({
      code: 'BmcUnreachable',
      message: expect.stringContaining('too long'),
    });
    // Where the machine is slow it may have been killed before it could say that it began.
    for (const { pid } of tool.heard()) expect(() => process.kill(pid, 0)).toThrow();
  });

  test('an activity that must stop kills the call and waits for its end', async () => {
    const { tool, run } = await bench({ 'power status': [{ hang: true }] });
    const worker = new AbortController();
    const stopped = run('verify', {}, { signal: worker.signal }).catch((error: unknown) => error);
    while (tool.heard().length === 0) await new Promise((done) => setImmediate(done));
    worker.abort(new Error('stop'));
    expect(await stopped).toMatchObject({ message: 'stop' });
    expect(() => process.kill(tool.heard()[0]!.pid, 0)).toThrow();
  });

  test('two calls to one BMC keep their distance, whichever node asks', async () => {
    const began: number[] = [];
    const observe = { request: (_: string, ms: number) => void began.push(Date.now() - ms) };
    const limits = { courtesy: { spacingMs: 200 } };
    const { run } = await bench({ 'power status': [off], 'mc info': [maker] }, {}, { limits, observe });
    await Promise.all([run('verify'), run('verify')]);
    const gaps = began.slice(1).map((at, index) => at - began[index]!);
    expect(gaps).toHaveLength(3);
    for (const gap of gaps) expect(gap).toBeGreaterThan(195);
  });
});

describe('power', () => {
  test('a node that is off already is not switched off again', async () => {
    const { tool, run } = await bench({ 'power status': [off] });
    await expect(run('power_off')).resolves.toMatchObject({ note: 'already power off' });
    expect(new Set(tool.commands())).toEqual(new Set(['power status']));
  });

  test('a refusal is no failure when the state is there already', async () => {
    const { run } = await bench({
      'power status': [on, off],
      'power off': [
        { err: 'Set Chassis Power Control to Down/Off failed: Command not supported in present state\n', status: 1 },
      ],
    });
    await expect(run('power_off')).resolves.toMatchObject({ seen: { power_state: 'power off' } });
  });

  test('a command that got no answer is looked after, and sent again only after the settle window', async () => {
    const { tool, run } = await bench({
      'power status': [off, off, off, on],
      'power on': [{ err: 'Unable to set Chassis Power Control to Up/On\n', status: 1 }, {}],
    });
    const timing = { ...quickTiming, settleMs: 3_600_000 };
    await run('power_on', {}, { timing });
    expect(tool.commands().filter((one) => one === 'power on')).toHaveLength(1);
  });
});

describe('the boot device', () => {
  const flags = (first: string, second: string): Line => ({ out: ` 01 05 ${first} ${second} 00 00 00\n` });
  const read = 'raw 0x00 0x09 0x05 0x00 0x00';
  const keep = 'raw 0x00 0x08 0x03 0x08';
  const fine: Line = { out: '\n' };

  test.each<[string, boolean, Record<string, unknown>, string, [string, string]]>([
    ['pxe', false, {}, '0xa0 0x04', ['a0', '04']],
    ['pxe', true, {}, '0xe0 0x04', ['e0', '04']],
    ['disk', true, {}, '0xe0 0x08', ['e0', '08']],
    ['cdrom', false, {}, '0xa0 0x14', ['a0', '14']],
    ['bios', false, {}, '0xa0 0x18', ['a0', '18']],
    ['pxe', true, { ipmi_force_boot_device: true }, '0xa0 0x04', ['a0', '04']],
  ])('%s in UEFI, persistent %s, is one raw request', async (boot_device, persistent, info, bytes, after) => {
    const { tool, run } = await bench(
      { [read]: [flags('00', '00'), flags(...after)], 'mc info': [maker], any: [fine] },
      info,
    );
    await run('set_boot_device', { boot_device, persistent });
    expect(tool.commands().filter((one) => one !== 'mc info')).toEqual([
      read,
      keep,
      `raw 0x00 0x08 0x05 ${bytes} 0x00 0x00 0x00`,
      read,
    ]);
  });

  test('Supermicro’s UEFI starts from disk by a number of its own', async () => {
    const supermicro: Line = {
      out: 'Manufacturer ID           : 10876\nManufacturer Name         : Unknown (0x2A7C)\n',
    };
    const { tool, run } = await bench({
      [read]: [flags('00', '00'), flags('a0', '24')],
      'mc info': [supermicro],
      any: [fine],
    });
    await run('set_boot_device', { boot_device: 'disk' });
    expect(tool.commands()).toContain('raw 0x00 0x08 0x05 0xa0 0x24 0x00 0x00 0x00');
  });

  test('without UEFI ipmitool’s own words are used', async () => {
    const { tool, driver, node } = await bench({ [read]: [flags('00', '00'), flags('c0', '04')], any: [fine] });
    const bios = { ...node, boot_mode: 'bios' };
    const context = contextWith(intentsOf('set_boot_device'));
    await driver.acts.set_boot_device!(bios, { boot_device: 'pxe', persistent: true }, context);
    expect(tool.commands()).toContain('chassis bootdev pxe options=persistent');
  });

  test('one that is set already as wanted is not set again', async () => {
    const { tool, run } = await bench({ [read]: [flags('e0', '04')] });
    await run('set_boot_device', { boot_device: 'pxe', persistent: true });
    expect(tool.commands()).toEqual([read]);
  });

  test('the same device for the next boot only is another wish', async () => {
    const { tool, run } = await bench({ [read]: [flags('e0', '04'), flags('a0', '04')], any: [fine] });
    await run('set_boot_device', { boot_device: 'pxe' });
    expect(tool.commands()).toContain('raw 0x00 0x08 0x05 0xa0 0x04 0x00 0x00 0x00');
  });

  test('a BMC that cannot keep it is refused with the field that says so, and obeyed when that is set', async () => {
    const lines = {
      [read]: [flags('00', '00'), flags('a0', '04')],
      [keep]: [
        {
          err: 'Unable to send RAW command (channel=0x0 netfn=0x0 lun=0x0 cmd=0x8 rsp=0xcc): Invalid data field in request\n',
          status: 1,
        },
      ],
      any: [fine],
    };
    const strict = await bench(lines);
    expect((await strict.failure('set_boot_device', { boot_device: 'pxe' })).message).toContain(
      'ipmi_disable_boot_timeout',
    );
    const lenient = await bench(lines, { ipmi_disable_boot_timeout: false });
    await expect(lenient.run('set_boot_device', { boot_device: 'pxe' })).resolves.toMatchObject({ is: 'done' });
    expect(lenient.tool.commands()).not.toContain(keep);
  });

  test('a device that IPMI has no number for is refused before anything is sent', async () => {
    const { tool, failure } = await bench({});
    expect((await failure('set_boot_device', { boot_device: 'uefihttp' })).code).toBe('BmcUnsupported');
    expect(tool.heard()).toEqual([]);
  });

  test('an answer that is too short, or no bytes, is a fault of the BMC', async () => {
    for (const out of [' 01 05\n', 'hello\n', '']) {
      const { failure } = await bench({ [read]: [{ out }] });
      expect((await failure('read_boot_device')).code).toBe('BmcServerError');
    }
  });

  test('the devices that can be set are listed without asking', async () => {
    const { tool, run } = await bench({});
    await expect(run('list_boot_devices')).resolves.toMatchObject({
      value: { supported_boot_devices: ['pxe', 'disk', 'cdrom', 'bios'] },
    });
    expect(tool.heard()).toEqual([]);
  });
});

describe('what must not happen twice', () => {
  const reset = 'raw 0x06 0x02';
  const gone: Line = { err: noSession, status: 1 };
  const lost: Line = { err: 'Unable to send RAW command (channel=0x0 netfn=0x6 lun=0x0 cmd=0x2)\n', status: 1 };

  test('a restart of the BMC is over when it has been silent and answers three times', async () => {
    const { tool, run } = await bench({ 'power status': [on, gone, gone, on], [reset]: [lost] });
    await expect(run('reset_bmc')).resolves.toMatchObject({ note: 'the BMC is back' });
    expect(tool.commands().filter((one) => one === reset)).toHaveLength(1);
    expect(tool.commands().filter((one) => one === 'power status')).toHaveLength(6);
  });

  test('a BMC that said yes and was never seen silent counts as restarted', async () => {
    const { tool, run } = await bench({ 'power status': [on], [reset]: [{ out: '\n' }] });
    await expect(run('reset_bmc')).resolves.toMatchObject({ is: 'done' });
    expect(words(tool.heard().find(({ args }) => args.at(-1) === '0x02')!.args, '-R')).toBe('1');
  });

  test('one that neither answered nor fell silent is not known to have restarted', async () => {
    const { tool, failure } = await bench({ 'power status': [on], [reset]: [lost] });
    expect((await failure('reset_bmc')).code).toBe('StepOutcomeUnknown');
    expect(tool.commands().filter((one) => one === reset)).toHaveLength(1);
  });

  test('a worker killed in the middle of it leaves a later attempt to look only', async () => {
    const { tool, run, failure } = await bench({ 'power status': [on], [reset]: [{ hang: true }] });
    const intents = intentsOf('reset_bmc');
    const worker = new AbortController();
    const killed = run('reset_bmc', {}, { intents, signal: worker.signal }).catch((error: unknown) => error);
    while (!tool.commands().includes(reset)) await new Promise((done) => setImmediate(done));
    worker.abort(new Error('killed'));
    expect(await killed).toMatchObject({ message: 'killed' });
    expect((await failure('reset_bmc', {}, { intents, attempt: 2 })).code).toBe('StepOutcomeUnknown');
    expect(tool.commands().filter((one) => one === reset)).toHaveLength(1);
  });

  test('a restart that was refused may be tried again', async () => {
    const busy: Line = { err: 'Unable to send RAW command (channel=0x0 rsp=0xc0): Node busy\n', status: 1 };
    const { run, failure } = await bench({ 'power status': [on], [reset]: [busy, { out: '\n' }] });
    const intents = intentsOf('reset_bmc');
    expect(await failure('reset_bmc', {}, { intents })).toMatchObject({ code: 'BmcBusy', retry: true });
    await expect(run('reset_bmc', {}, { intents, attempt: 2 })).resolves.toMatchObject({ is: 'done' });
  });

  test('an interrupt without an answer is not sent again', async () => {
    const { tool, failure } = await bench({
      'power status': [on, off],
      'power diag': [{ err: 'Unable to set Chassis Power Control to Diag\n', status: 1 }],
    });
    const intents = intentsOf('inject_nmi');
    expect((await failure('inject_nmi', {}, { intents })).code).toBe('StepOutcomeUnknown');
    expect((await failure('inject_nmi', {}, { intents, attempt: 2 })).code).toBe('StepOutcomeUnknown');
    expect(tool.commands()).toEqual(['power status', 'power diag']);
  });

  test('one whose session could not be opened was not sent, and may be tried again', async () => {
    const { tool, run, failure } = await bench({
      'power status': [on],
      'power diag': [gone, { out: 'Chassis Power Control: Diag\n' }],
    });
    const intents = intentsOf('inject_nmi');
    expect((await failure('inject_nmi', {}, { intents })).code).toBe('BmcUnreachable');
    await expect(run('inject_nmi', {}, { intents, attempt: 2 })).resolves.toMatchObject({ is: 'done' });
    expect(tool.commands().filter((one) => one === 'power diag')).toHaveLength(2);
  });

  test.each(['', '0x06', '0x06 256', '0x06 0x01; reboot', '0x06 $(reboot)', '-f /etc/passwd'])(
    'raw bytes %j are refused before anything is sent',
    async (raw_bytes) => {
      const { tool, failure } = await bench({});
      expect((await failure('send_raw', { raw_bytes })).code).toBe('StepRejected');
      expect(tool.heard()).toEqual([]);
    },
  );
});

describe('the chassis light', () => {
  const status = 'raw 0x00 0x01';

  test('is switched only when the BMC says that it is not as wanted', async () => {
    const { tool, run } = await bench({
      [status]: [{ out: ' 01 00 40\n' }, { out: ' 01 00 60\n' }],
      any: [{ out: '\n' }],
    });
    await run('set_indicator', { state: 'on' });
    await run('set_indicator', { state: 'blinking' });
    expect(tool.commands()).toEqual([status, 'chassis identify force', status, status]);
  });

  test('is switched on the BMC’s word where it does not say how it is', async () => {
    const { tool, run } = await bench({ [status]: [{ out: ' 01 00 00\n' }], any: [{ out: '\n' }] });
    await run('set_indicator', { state: 'off' });
    expect(tool.commands()).toContain('chassis identify 0');
  });

  test.each(['chassis', 'system'])('is the one of the %s as well', async (component) => {
    const { tool, run } = await bench({
      [status]: [{ out: ' 01 00 40\n' }, { out: ' 01 00 60\n' }],
      any: [{ out: '\n' }],
    });
    await run('set_indicator', { state: 'on', component });
    expect(tool.commands()).toContain('chassis identify force');
  });

  test('of a disk is none that IPMI knows, and the chassis is not lit instead', async () => {
    const { tool, failure } = await bench({});
    const error = await failure('set_indicator', { state: 'on', component: 'disk', name: 'bay-1' });
    expect(error).toMatchObject({ code: 'BmcUnsupported', message: expect.stringContaining('an indicator of disk') });
    expect(tool.heard()).toEqual([]);
  });
});
