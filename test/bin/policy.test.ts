/** The policy as a process holds it: files and folders, reloads that fail, remote checks, and a second policy. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createPolicy, nodeTarget, personas } from '../../src/policy';
import { holdPolicy, type PolicyHolder } from '../../src/process/policy/policy';
import { openRemote } from '../../src/process/policy/policy-remote';
import { ConfigFault } from '../../src/process/settings/fault';

const rule = 'baremetal:node:set_power_state';
const node = nodeTarget({ owner: 'project-owner', lessee: null });

let folder: string;
const held: PolicyHolder[] = [];
const lines: { says: string; facts?: Record<string, unknown> }[] = [];
const say = (says: string, facts?: Record<string, unknown>): void => void lines.push({ says, facts });
const log = { debug: say, info: say, warn: say, error: say };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'policy-'));
  lines.length = 0;
});
afterEach(() => {
  for (const one of held.splice(0)) one.close();
  rmSync(folder, { recursive: true });
});

const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const hold = (file?: string, folders: readonly string[] = [], stale: boolean[] = []): PolicyHolder => {
  const holder = holdPolicy('temper', { file, folders }, { log, onLoad: () => {}, onStale: (is) => stale.push(is) });
  held.push(holder);
  return holder;
};

/** Resolves when the log has this line, which the holder writes after it looked. */
const logged = async (text: string): Promise<void> => {
  while (!lines.some(({ says }) => says.includes(text))) await new Promise((resolve) => setTimeout(resolve, 50));
};

test('folders are read after the file, in the order of their names, and other files are passed over aloud', () => {
  const file = write('main.yaml', `"${rule}": "!"\n"baremetal:node:get": "!"`);
  const extra = join(folder, 'policy.d');
  mkdirSync(join(extra, 'deeper.yaml'), { recursive: true });
  write('policy.d/10-first.yml', `"${rule}": "role:member"`);
  write('policy.d/20-second.json', `{"${rule}": "role:reader"}`);
  write('policy.d/30-old.yaml~', `"${rule}": "@"`);
  write('policy.d/.hidden.yaml', `"${rule}": "@"`);
  const policy = hold(file, [extra]).now();
  expect(policy.allows(rule, personas['stranger-reader'], node)).toBe(true);
  expect(policy.allows(rule, personas['stranger-service'], node)).toBe(false);
  expect(policy.allows('baremetal:node:get', personas['system-admin'], node)).toBe(false);
  expect(lines.filter(({ says }) => says.includes('passed over'))).toEqual([
    { says: expect.any(String), facts: { file: join(extra, '30-old.yaml~') } },
  ]);
  expect(policy.explain(rule, personas['owner-reader'], node).from?.origin).toEqual({
    file: join(extra, '20-second.json'),
    line: 1,
  });
});

test('a fault at start names setting, file and line', () => {
  const file = write('main.yaml', `\n"${rule}": "admin"`);
  expect(() => hold(file)).toThrow(ConfigFault);
  expect(() => hold(file)).toThrow(`${file}:2: rule "${rule}": "admin" has no colon`);
  expect(() => hold(undefined, [join(folder, 'nowhere')])).toThrow(/nowhere could not be read \(ENOENT\)/);
});

test('a file that breaks, or disappears, leaves the old rules in force and says so, until it is mended', async () => {
  const stale: boolean[] = [];
  const file = write('main.yaml', `"${rule}": "role:reader"`);
  const holder = hold(file, [], stale);
  const { hash } = holder.now();
  write('main.yaml', `"${rule}": "not readr"`);
  await logged('the old rules stay in force');
  expect(holder.fault()).toContain('"readr" has no colon');
  expect(holder.now().hash).toBe(hash);
  lines.length = 0;
  rmSync(file);
  await logged('the old rules stay in force');
  expect(holder.fault()).toContain('ENOENT');
  expect(holder.now().hash).toBe(hash);
  lines.length = 0;
  write('main.yaml', `"${rule}": "role:member"`);
  await logged('policy loaded');
  expect(holder.fault()).toBeNull();
  expect(holder.now().hash).not.toBe(hash);
  expect(stale).toEqual([false, true, true, false]);
});

describe('a change of the file', () => {
  const look = () => jest.advanceTimersByTime(2_000);
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  const strict = `"${rule}": "!"\n"baremetal:node:delete": "!"\n`;
  const held = () => {
    const file = write('main.yaml', strict);
    const holder = hold(file);
    const { hash } = holder.now();
    return { holder, unchanged: () => holder.now().hash === hash };
  };

  test.each([
    ['empty', ''],
    ['of comments', '# rules follow\n#"baremetal:node:get": "!"\n'],
    ['half written', `"${rule}": "!`],
    ['a document without rules', '---\n'],
    ['an empty map', '{}'],
  ])('that leaves it %s does not bring the defaults back', (_, text) => {
    const { holder, unchanged } = held();
    write('main.yaml', text);
    for (let times = 0; times < 4; times += 1) look();
    expect(unchanged()).toBe(true);
    expect(holder.fault()).toContain('the old rules stay in force');
    write('main.yaml', strict);
    for (let times = 0; times < 2; times += 1) look();
    expect([unchanged(), holder.fault()]).toEqual([true, null]);
  });

  test('that empties one of several files does not drop its rules', () => {
    const file = write('main.yaml', strict);
    mkdirSync(join(folder, 'policy.d'));
    write('policy.d/10.yaml', `"baremetal:node:get": "!"`);
    const holder = hold(file, [join(folder, 'policy.d')]);
    const { hash } = holder.now();
    write('main.yaml', '# nothing\n');
    for (let times = 0; times < 3; times += 1) look();
    expect(holder.now().hash).toBe(hash);
    expect(holder.fault()).toContain('main.yaml holds no rules, and held 2 before');
  });

  test('is taken when it was read alike twice, not while it is being written', () => {
    const { holder, unchanged } = held();
    write('main.yaml', `"${rule}": "!"\n`);
    look();
    write('main.yaml', `"${rule}": "!"\n"baremetal:node:delete": "!"\n"baremetal:node:get": "!"\n`);
    look();
    expect(unchanged()).toBe(true);
    look();
    expect(unchanged()).toBe(false);
    expect(holder.now().allows('baremetal:node:delete', personas['system-admin'], node)).toBe(false);
  });
});

describe('a remote check', () => {
  const question = (url: string) => ({ url, rule, target: node, credentials: { roles: ['reader'] } });

  /** A service in a thread of its own: the decision keeps this one busy. */
  const serve = async (body: string) => {
    const program = `
      const { parentPort } = require('node:worker_threads');
      const server = require('node:http').createServer((request, response) => {
        let form = '';
        request.on('data', (chunk) => (form += chunk));
        request.on('end', () => { parentPort.postMessage({ form, type: request.headers['content-type'] }); ${body} });
      });
      server.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port }));`;
    const worker = new Worker(program, { eval: true });
    const [{ port }] = (await once(worker, 'message')) as [{ port: number }];
    return { worker, origin: `http://127.0.0.1:${port}` };
  };

  test('asks as the reference does, and decides by the answer', async () => {
    const { worker, origin } = await serve(`response.end('"True"');`);
    const remote = openRemote({ origins: [origin], timeoutMs: 20_000 });
    const heard = once(worker, 'message');
    const overrides = { [rule]: `${origin}/%(node.owner)s` };
    const policy = createPolicy({ set: 'temper', overrides, remote: remote.ask });
    expect(policy.allows(rule, personas['stranger-reader'], node)).toBe(true);
    const [{ form, type }] = (await heard) as [{ form: string; type: string }];
    expect(type).toContain('application/x-www-form-urlencoded');
    const fields = new URLSearchParams(form);
    expect(JSON.parse(fields.get('rule')!)).toBe(rule);
    expect(JSON.parse(fields.get('target')!)).toMatchObject({ 'node.owner': 'project-owner' });
    expect(JSON.parse(fields.get('credentials')!)).toMatchObject({ roles: ['reader'] });
    remote.close();
    await worker.terminate();
  });

  test.each([
    ['with a long text', `response.end('False' + 'x'.repeat(100000));`],
    ['with what would be True, were its end cut off', `response.end('True' + '"'.repeat(252) + 'x');`],
    [
      'with a text that has no end',
      `const more = () => { while (response.write('True')); }; response.on('drain', more); more();`,
    ],
  ])('that is answered %s admits no caller', async (_, body) => {
    const { worker, origin } = await serve(body);
    const remote = openRemote({ origins: [origin], timeoutMs: 20_000 });
    expect(() => remote.ask(question(`${origin}/x`))).toThrow('could not be asked: the answer is too long');
    const policy = createPolicy({ set: 'temper', overrides: { [rule]: `${origin}/x` }, remote: remote.ask });
    expect(policy.allows(rule, personas['stranger-reader'], node)).toBe(false);
    remote.close();
    await worker.terminate();
  });

  test('that is answered with as much as is read is decided by it', async () => {
    const { worker, origin } = await serve(`response.end('True' + '"'.repeat(252));`);
    const remote = openRemote({ origins: [origin], timeoutMs: 20_000 });
    expect(remote.ask(question(`${origin}/x`))).toHaveLength(256);
    remote.close();
    await worker.terminate();
  });

  test.each([
    ['no answer', ''],
    ['no more than the beginning of one', `response.write('Tr');`],
  ])('that gets %s in time throws, and the next one is asked anew', async (_, body) => {
    const { worker, origin } = await serve(body);
    const remote = openRemote({ origins: [origin], timeoutMs: 200 });
    expect(() => remote.ask(question(`${origin}/x`))).toThrow(/could not be asked: TimeoutError|did not answer/);
    expect(() => remote.ask(question(`${origin}/x`))).toThrow(/could not be asked: TimeoutError|did not answer/);
    remote.close();
    await worker.terminate();
  });

  test('goes nowhere but to the origins that the operator named', async () => {
    let asked = 0;
    const count: RequestListener = (_request: IncomingMessage, response) => {
      asked += 1;
      response.end('True');
    };
    const server = createServer(count).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const remote = openRemote({ origins: ['https://pdp.example'], timeoutMs: 1_000 });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(() => remote.ask(question(url))).toThrow('is not among TEMPER_POLICY_REMOTE_ORIGINS');
    server.close();
    await once(server, 'close');
    expect(asked).toBe(0);
    remote.close();
  });
});
