/** What the file system refuses a process of ours is one plain sentence, and a full disk under the log ends none of them. */
import { spawnSync } from 'node:child_process';
import fs, { chmodSync, closeSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog, lastingOutput } from '../../src/observe/log';
import { type Ending, type Env, endAll, good, run, type Surroundings, start } from './support/entries';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'file-faults-'));
  chmodSync(dir, 0o755);
  mkdirSync(join(dir, 'folder'));
  mkdirSync(join(dir, 'disk'));
  writeFileSync(join(dir, 'file'), '');
  writeFileSync(join(dir, 'closed'), '', { mode: 0o000 });
});
afterEach(endAll);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const at = (name: string): string => join(dir, name);

/** Why tests of a kind cannot run on this machine; empty where they can. */
const missing = {
  full: existsSync('/dev/full') ? '' : 'no /dev/full',
  mounts:
    spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
      ? ''
      : 'no file systems may be mounted in a namespace of its own',
  accounts: (() => {
    const another = spawnSync(
      process.execPath,
      ['-e', 'require("node:fs").readFileSync(process.argv[1])', __filename],
      {
        ...(process.getuid?.() === 0 && { uid: 12_345, gid: 12_345 }),
      },
    );
    return process.getuid?.() === 0 && another.status === 0
      ? ''
      : 'not root, or another user cannot read this checkout';
  })(),
};
const where = (kind: keyof typeof missing) => ({
  it: missing[kind] ? test.skip : test,
  skipped: missing[kind] && ` (skipped: ${missing[kind]})`,
});
const full = where('full');
const mounts = where('mounts');
const accounts = where('accounts');

/** One plain sentence on standard error, and no stack anywhere. */
const expectSentence = ({ status, out, err }: Ending, expected: number, ...texts: readonly string[]): void => {
  for (const text of texts) expect(err).toContain(text);
  expect(`${out}${err}`).not.toMatch(/^\s+at |"stack"|uv_|node:fs/m);
  expect(status).toBe(expected);
};

const another = 12_345;
const policyIn = (file: string): Env => ({ ...good.api, TEMPER_POLICY_FILE: file });

test.each<[title: string, command: string, env: () => Env, says: string]>([
  ['a policy file that is a folder', 'api', () => policyIn(at('folder')), 'folder could not be read: it is a folder'],
  [
    'a policy file below a file',
    'api',
    () => policyIn(at('file/policy.yaml')),
    'policy.yaml could not be read: it lies below a file',
  ],
  [
    'an identity file that is a folder',
    'api',
    () => ({ ...good.api, TEMPER_AUTH_STRATEGY: 'static_tokens', TEMPER_TOKENS_FILE: at('folder') }),
    'could not be read: it is a folder',
  ],
  [
    'a certificate that is a folder',
    'worker bmc',
    () => ({ ...good.bmc, TEMPER_TEMPORAL_TLS_CA: at('folder') }),
    'folder could not be read: it is a folder',
  ],
  [
    'a bundle of workflows below a file',
    'worker control',
    () => ({ ...good.control, TEMPER_WORKFLOW_BUNDLE: at('file/bundle.js') }),
    'bundle.js could not be read: it lies below a file',
  ],
  [
    'a data folder that is a file',
    'rack',
    () => ({ TEMPER_RACK_DIR: at('file'), TEMPER_RACK_SIZE: '1' }),
    '/file cannot be used: it is a file where a folder is wanted',
  ],
  [
    'a data folder below a file',
    'rack',
    () => ({ TEMPER_RACK_DIR: at('file/data'), TEMPER_RACK_SIZE: '1' }),
    'cannot be used: it lies below a file',
  ],
])('%s', async (_, command, env, says) => expectSentence(await run(command, env()), 78, says));

describe('another user', () => {
  const as: Surroundings = { uid: another };

  accounts.it(`a file that it may not read${accounts.skipped}`, async () => {
    const ending = await run('api', policyIn(at('closed')), as);
    expectSentence(ending, 78, 'closed could not be read: this user may not (EACCES)');
  });

  accounts.it(`a folder that it may not write${accounts.skipped}`, async () => {
    const ending = await run('rack', { TEMPER_RACK_DIR: at('folder'), TEMPER_RACK_SIZE: '1' }, as);
    expectSentence(ending, 78, 'cannot be used: this user may not (EACCES)');
  });

  accounts.it(
    `a home that it may not read is named, where the command looks for clouds.yaml${accounts.skipped}`,
    async () => {
      mkdirSync(at('home/.config/openstack'), { recursive: true });
      chmodSync(at('home/.config'), 0o700);
      const ending = await run('temper --os-cloud x runs list', { HOME: at('home') }, as);
      expectSentence(ending, 2, '/home/.config/openstack/clouds.yaml could not be read: this user may not (EACCES)');
    },
  );

  accounts.it(`without an entry among the accounts, and so without a home${accounts.skipped}`, async () => {
    const ending = await run('temper runs list', {}, as);
    expectSentence(ending, 2, 'temper: ');
  });
});

describe('a read-only or a full file system', () => {
  const disk = () => `mount -t tmpfs -o size=8k tmpfs '${at('disk')}'`;
  const filled = () => `${disk()} && { dd if=/dev/zero of='${at('disk')}/filler' bs=4k 2>&1 || true; } >/dev/null`;
  const readOnly = () => `${disk()} && mount -o remount,ro '${at('disk')}'`;
  const rack = () => ({ TEMPER_RACK_DIR: at('disk/data'), TEMPER_RACK_SIZE: '1' });

  mounts.it(`a data folder that is read-only${mounts.skipped}`, async () =>
    expectSentence(
      await run('rack', { ...rack(), TEMPER_RACK_DIR: at('disk') }, { mounting: readOnly() }),
      78,
      'the file system is read-only (EROFS)',
    ),
  );

  mounts.it(`a data folder on a full disk${mounts.skipped}`, async () =>
    expectSentence(await run('rack', rack(), { mounting: filled() }), 78, 'the disk is full (ENOSPC)'),
  );

  mounts.it(`a policy file that is to be mended, read-only${mounts.skipped}`, async () => {
    const line = '"baremetal:node:update": "rule:is_node_owner"';
    const mounting = `${disk()} && printf '%s' '${line}' > '${at('disk')}/policy.yaml' && mount -o remount,ro '${at('disk')}'`;
    const ending = await run(`temper policy lint --fix --set closed ${at('disk')}/policy.yaml`, {}, { mounting });
    expectSentence(ending, 2, 'policy.yaml could not be written: the file system is read-only (EROFS)');
  });
});

describe('a full disk', () => {
  let disk: number;
  beforeEach(() => {
    disk = missing.full ? -1 : openSync('/dev/full', 'w');
  });
  afterEach(() => {
    if (disk >= 0) closeSync(disk);
  });

  full.it.each([
    ['api', good.api],
    ['demo-identity', good['demo-identity']],
  ])(`under the log of %s is said once and does not end it${full.skipped}`, async (command, env) => {
    const { child, ended } = start(command, env, { stdout: disk });
    const said = new Promise<void>((done) => {
      let text = '';
      child.stderr!.on('data', (chunk) => {
        text += chunk;
        if (text.includes('the log cannot be written')) done();
      });
    });
    await Promise.race([said, ended]);
    // Asked to end, it ends by itself: it was there until then.
    child.kill('SIGTERM');
    const ending = await ended;
    expectSentence(ending, 0, 'the log cannot be written: the disk is full (ENOSPC)');
    expect(ending.err.match(/the log cannot be written/g)).toHaveLength(1);
  });

  full.it(`under what the command prints is its failure${full.skipped}`, async () => {
    const ending = await run('temper --help', {}, { stdout: disk });
    expectSentence(ending, 1, 'temper: what it prints cannot be written: the disk is full (ENOSPC)');
  });
});

test('a log goes on where it left off when there is room again, and says the next time that there is none', () => {
  const written: string[] = [];
  let room = false;
  const spy = jest.spyOn(fs, 'writeSync').mockImplementation(((fd: number, text: string) => {
    if (fd !== 2 && !room) throw Object.assign(new Error('no'), { code: 'ENOSPC' });
    written.push(`${fd} ${text}`);
    return Buffer.byteLength(text);
  }) as typeof fs.writeSync);
  try {
    const log = createLog('api', 'info', lastingOutput('api', 77));
    for (const [now, message] of [
      [false, 'one'],
      [false, 'two'],
      [true, 'three'],
      [false, 'four'],
    ] as const) {
      room = now;
      log.info(message);
    }
  } finally {
    spy.mockRestore();
  }
  expect(written.map((line) => /^\d+ (?=\{)|cannot be written/.exec(line)?.[0])).toEqual([
    'cannot be written',
    '77 ',
    '77 ',
    'cannot be written',
  ]);
  const messages = [...written.join('').matchAll(/"message":"(\w+)"/g)].map(([, message]) => message);
  expect(messages).toEqual(['one', 'two', 'three']);
});
