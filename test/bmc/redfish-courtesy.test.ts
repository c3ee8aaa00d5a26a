/** Courtesy: pauses, few requests at once, few logins, rests that a BMC asks for; and every request counted. */
import type { BmcRequestKind, Pacing } from '../../src/bmc/contract';
import { courtesies, courtesyFor } from '../../src/bmc/quirks';
import { createPace } from '../../src/bmc/redfish/transport/pacing';
import { root, startHost, system } from './support/host';
import { type RackBench, startRackBench } from './support/rack';

let racks: RackBench;
const closing: { close(): Promise<unknown> }[] = [];
beforeAll(async () => {
  racks = await startRackBench({ bmcs: 24, profiles: ['openbmc', 'idrac9'] });
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((each) => each.close()));
});
afterAll(() => racks.close());

const never = new AbortController().signal;
const none: Pacing = { spacingMs: 0, afterWriteMs: 0, loginSpacingMs: 0, reads: 2 };

/** A request that ends when asked. */
const request = () => {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work = jest.fn(() => ended);
  return { work, end: () => end() };
};
const turns = () => new Promise((resolve) => setImmediate(resolve));

describe('the rows', () => {
  test.each([
    ['Dell', 'Dell'],
    ['Dell Inc.', 'Dell'],
    ['HPE', 'HPE'],
    ['HP', 'HPE'],
    ['Hewlett Packard Enterprise', 'HPE'],
    ['Supermicro', 'Supermicro'],
    ['Super Micro Computer', 'Supermicro'],
  ])('%s is treated as %s', (vendor, row) => {
    expect(courtesyFor(vendor)).toBe(courtesies.find((each) => each.vendor.test(row)));
  });

  test.each([undefined, '', 'OpenBMC', 'Sushy Emulator', 'AHPER', 'Odell'])('%p has no row of its own', (vendor) => {
    expect(courtesyFor(vendor)).toMatchObject({ spacingMs: 0, reads: 2 });
  });

  test('every row says where it is from and is gentler than none', () => {
    for (const row of courtesies) {
      expect(row.source).not.toBe('');
      expect(row.spacingMs).toBeGreaterThan(0);
      expect(row.afterWriteMs).toBeGreaterThanOrEqual(row.spacingMs);
    }
  });
});

describe('at the same time', () => {
  test('only so many reads as the BMC can stand', async () => {
    const pace = createPace({ ...none, reads: 2 });
    const reads = [request(), request(), request()];
    const all = reads.map(({ work }) => pace.turn('read', never, work));
    await turns();
    expect(reads.map(({ work }) => work.mock.calls.length)).toEqual([1, 1, 0]);
    reads[0]!.end();
    await all[0];
    await turns();
    expect(reads[2]!.work).toHaveBeenCalled();
    for (const read of reads) read.end();
    await Promise.all(all);
  });

  test.each(['write', 'login'] as const)('a %s is alone, and reads that came later wait for it', async (kind) => {
    const pace = createPace(none);
    const [before, alone, after] = [request(), request(), request()] as const;
    const one = pace.turn('read', never, before.work);
    const two = pace.turn(kind, never, alone.work);
    const three = pace.turn('read', never, after.work);
    await turns();
    expect([before, alone, after].map(({ work }) => work.mock.calls.length)).toEqual([1, 0, 0]);
    before.end();
    await one;
    await turns();
    expect([alone, after].map(({ work }) => work.mock.calls.length)).toEqual([1, 0]);
    alone.end();
    await two;
    after.end();
    await three;
    expect(after.work).toHaveBeenCalled();
  });

  test('a request that stops waiting leaves the queue, and a request that fails frees its place', async () => {
    const pace = createPace(none);
    const first = request();
    const one = pace.turn('write', never, first.work);
    const impatient = new AbortController();
    const two = pace.turn('read', impatient.signal, async () => 'too late');
    const three = pace.turn('write', never, () => Promise.reject(new Error('no')));
    const four = pace.turn('read', never, async () => 'through');
    impatient.abort(new Error('stop'));
    await expect(two).rejects.toThrow('stop');
    first.end();
    await one;
    await expect(three).rejects.toThrow('no');
    await expect(four).resolves.toBe('through');
  });
});

describe('one after the other', () => {
  /** When each request starts, in milliseconds from the first. */
  const starts = async (courtesy: Partial<Pacing>, kinds: readonly BmcRequestKind[]) => {
    const pace = createPace({ ...none, ...courtesy });
    const at: number[] = [];
    for (const kind of kinds) await pace.turn(kind, never, async () => at.push(performance.now()));
    return at.map((time) => time - at[0]!);
  };
  // Timers may fire a little early against another clock.
  const early = 5;

  test('requests keep their distance', async () => {
    const [, second, third] = await starts({ spacingMs: 60 }, ['read', 'read', 'write']);
    expect(second!).toBeGreaterThanOrEqual(60 - early);
    expect(third!).toBeGreaterThanOrEqual(120 - early);
  });

  test('after a write the BMC has time to settle', async () => {
    const [, second] = await starts({ afterWriteMs: 80 }, ['write', 'read']);
    expect(second!).toBeGreaterThanOrEqual(80 - early);
  });

  test('logins keep a distance of their own', async () => {
    const [, second, third] = await starts({ loginSpacingMs: 80 }, ['login', 'read', 'login']);
    expect(third!).toBeGreaterThanOrEqual(80 - early);
    expect(second!).toBeLessThan(third!);
  });

  test('a pause ends at once when the activity must stop', async () => {
    const pace = createPace({ ...none, spacingMs: 3_600_000 });
    await pace.turn('read', never, async () => undefined);
    const worker = new AbortController();
    const waiting = pace.turn('read', worker.signal, async () => 'sent');
    worker.abort(new Error('stop'));
    await expect(waiting).rejects.toThrow('stop');
  });

  test('the pace of a BMC is known as soon as it says whose it is', async () => {
    const pace = createPace();
    pace.learn('Dell');
    const { spacingMs } = courtesyFor('Dell');
    const at: number[] = [];
    for (let time = 0; time < 2; time += 1) await pace.turn('read', never, async () => at.push(performance.now()));
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(spacingMs - early);
  });
});

/** Counts requests by kind, as metrics would. */
const counter = () => {
  const seen: { kind: BmcRequestKind; ms: number; status: number; bmc: string; at: number }[] = [];
  return {
    seen,
    observe: {
      request: (kind: BmcRequestKind, ms: number, status: number, bmc: string) =>
        void seen.push({ kind, ms, status, bmc, at: performance.now() }),
    },
    kinds: () => seen.map(({ kind }) => kind),
  };
};

/** Milliseconds between one request and the next. */
const meanGap = (begun: readonly number[]): number => (begun.at(-1)! - begun[0]!) / (begun.length - 1);

describe('on the wire', () => {
  test('every request is counted by kind and status, with its BMC', async () => {
    const { seen, observe, kinds } = counter();
    const { run, driver, bmc } = racks.bench('openbmc', {}, { observe });
    await run('power_on');
    await driver.close();
    expect(kinds().filter((kind) => kind === 'login')).toHaveLength(1);
    expect(kinds().filter((kind) => kind === 'write')).toHaveLength(1);
    expect(kinds().filter((kind) => kind === 'logout')).toHaveLength(1);
    expect(kinds().filter((kind) => kind === 'read').length).toBeGreaterThan(2);
    expect(new Set(seen.map((each) => each.bmc))).toEqual(new Set([bmc.address.replace('http://', '')]));
    expect(seen.every(({ ms, status }) => ms >= 0 && status >= 200 && status < 300)).toBe(true);
  });

  test('a request without an answer counts with status 0', async () => {
    const { seen, observe } = counter();
    const { failure, fault } = racks.bench('openbmc', {}, { observe });
    fault({ kind: 'drop-before', remaining: 5 });
    expect((await failure('verify')).code).toBe('BmcUnreachable');
    expect(seen.at(-1)).toMatchObject({ kind: 'read', status: 0 });
  });

  test('a Dell is asked at its own pace once its service root says that it is one', async () => {
    const { seen, observe } = counter();
    const { run, driver } = racks.bench('idrac9', {}, { observe, limits: { courtesy: {} } });
    await run('verify');
    await driver.close();
    const { spacingMs } = courtesyFor('Dell');
    const begun = seen.filter(({ kind }) => kind !== 'logout').map(({ at, ms }) => at - ms);
    const paced = begun.slice(1);
    expect(paced.length).toBeGreaterThan(2);
    // All of them together: a stall of this process makes one late and the gap after it short, and the whole never short.
    expect(meanGap(paced)).toBeGreaterThanOrEqual(spacingMs / 2);
  });

  test('two accounts at one BMC share its pace', async () => {
    const { seen, observe } = counter();
    const host = await startHost({}, { observe, limits: { courtesy: { ...none, spacingMs: 120 } } });
    closing.push(host);
    const as = (name: string) => ({
      driver_info: { redfish_username: name, redfish_password: 'secret-word', redfish_auth_type: 'basic' },
    });
    await Promise.all([host.run('read_boot_device', as('one')), host.run('read_boot_device', as('two'))]);
    const begun = seen.map(({ at, ms }) => at - ms).sort((a, b) => a - b);
    expect(begun.length).toBeGreaterThan(4);
    // Without a common pace every second gap would be none, and the mean half of it.
    expect(meanGap(begun)).toBeGreaterThanOrEqual(120 * 0.75);
  });
});

describe('a BMC that asks to be left alone', () => {
  const busy = { status: 503, headers: { 'retry-after': '120' } };

  test('gets nothing until the time is over, whichever node asks', async () => {
    const host = await startHost({ [system]: busy });
    closing.push(host);
    expect(await host.failure('verify')).toMatchObject({ code: 'BmcBusy', facts: { retryAfterMs: 120_000 } });
    const before = host.double.requests.length;
    const again = await host.failure('power_on');
    expect(again).toMatchObject({ code: 'BmcBusy', retry: true, message: expect.stringContaining('left alone') });
    expect(again.facts.retryAfterMs).toBeGreaterThan(100_000);
    expect(again.facts.retryAfterMs).toBeLessThanOrEqual(120_000);
    expect(host.double.requests).toHaveLength(before);
  });

  test.each([
    ['for a day', 503, '86400', 120_000],
    ['until a date long gone', 503, 'Wed, 21 Oct 2015 07:28:00 GMT', 0],
    ['with 429', 429, '60', 60_000],
  ])('%s is left alone for as long as is sensible', async (_, status, after, most) => {
    const host = await startHost({ [system]: { status, headers: { 'retry-after': after } } });
    closing.push(host);
    const { facts } = await host.failure('verify');
    expect(facts.retryAfterMs).toBeLessThanOrEqual(most);
    const sent = host.double.requests.length;
    await host.failure('verify');
    expect(host.double.requests.length > sent).toBe(most === 0);
  });

  test('is asked again when the time is over', async () => {
    const { run, failure, fault } = racks.bench('openbmc');
    fault({ kind: 'http-503', retryAfter: 1, path: '/Systems/system$' });
    const { facts } = await failure('verify');
    await new Promise((resolve) => setTimeout(resolve, Number(facts.retryAfterMs) + 20));
    expect(await run('verify')).toMatchObject({ is: 'done' });
  });

  test('a full table of sessions is no plea for silence: basic credentials still get in', async () => {
    const { run, fault } = racks.bench('idrac9');
    fault({ kind: 'session-table-full', seconds: 60 });
    expect(await run('verify')).toMatchObject({ is: 'done' });
  });

  test('an answer that does not ask for anything changes nothing', async () => {
    const host = await startHost({ [`${root}/Chassis/one`]: { status: 503 } });
    closing.push(host);
    expect(await host.run('read_indicators')).toMatchObject({ is: 'done' });
  });
});
