/** Settings that stand in files: `<setting>_FILE`. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refuseOpeningKeys } from '../../src/process/settings/api-settings';
import { processes } from '../../src/process/settings/config';
import { ConfigFault } from '../../src/process/settings/fault';
import { parseSettings } from '../../src/process/settings/read';
import { good } from './support/entries';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'temper-settings-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

const fileOf = (text: string | Buffer): string => {
  const file = join(mkdtempSync(join(dir, 'one-')), 'value');
  writeFileSync(file, text);
  return file;
};

const parsed = (change: NodeJS.ProcessEnv) => parseSettings(processes.api, { ...good.api, ...change });

const faultsOf = (change: NodeJS.ProcessEnv): readonly string[] => {
  try {
    parsed(change);
    return [];
  } catch (thrown) {
    if (thrown instanceof ConfigFault) return thrown.faults;
    throw thrown;
  }
};

test.each(['secret', 'secret\n', 'secret\r\n'])('%j in a file is the value without its last line break', (text) => {
  expect(parsed({ TEMPER_IDENTITY_PASSWORD_FILE: fileOf(text) }).TEMPER_IDENTITY_PASSWORD).toBe('secret');
});

test('spaces and further lines belong to the value', () => {
  const { TEMPER_IDENTITY_PASSWORD } = parsed({ TEMPER_IDENTITY_PASSWORD_FILE: fileOf(' a\nb\n\n') });
  expect(TEMPER_IDENTITY_PASSWORD).toBe(' a\nb\n');
});

test('a required setting may stand in a file, and is checked like any other', () => {
  const url = 'TEMPER_DATABASE_URL';
  const file = fileOf('postgres://temper_api@db.example.org/temper\n');
  expect(parsed({ [url]: undefined, [`${url}_FILE`]: file })[url]).toBe('postgres://temper_api@db.example.org/temper');
  expect(faultsOf({ [url]: undefined, [`${url}_FILE`]: fileOf('mysql://x') })).toEqual([
    expect.stringContaining('begins with postgres:// or postgresql://'),
  ]);
});

test('a setting whose name ends with _FILE is itself', () => {
  const file = fileOf('not read here');
  expect(parsed({ TEMPER_TOKENS_FILE: file }).TEMPER_TOKENS_FILE).toBe(file);
});

const password = 'TEMPER_IDENTITY_PASSWORD';

test.each([
  [
    'both',
    () => ({ [password]: 'a', [`${password}_FILE`]: fileOf('b') }),
    `${password} and ${password}_FILE are both set`,
  ],
  ['a missing file', () => ({ [`${password}_FILE`]: join(dir, 'none') }), /none could not be read \(ENOENT\)\.$/],
  ['a folder', () => ({ [`${password}_FILE`]: dir }), /could not be read: it is a folder where a file is wanted/],
  ['an empty file', () => ({ [`${password}_FILE`]: fileOf('\n') }), /is empty; write the value into it\.$/],
  ['a device without an end', () => ({ [`${password}_FILE`]: '/dev/zero' }), /is longer than 65536 bytes/],
  ['a long file', () => ({ [`${password}_FILE`]: fileOf(Buffer.alloc(65_537, 'a')) }), /is longer than 65536 bytes/],
  ['a name like one of the command’s', () => ({ TEMPER_TOKEN_FILE: '/x' }), /Did you mean TEMPER_TOKENS_FILE/],
  ['a misspelled name', () => ({ TEMPER_IDENTITY_PASWORD_FILE: '/x' }), /TEMPER_IDENTITY_PASWORD_FILE is no setting/],
])('%s is refused by one line', (_what, change, says) => {
  expect(faultsOf(change())).toEqual([
    typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says),
  ]);
});

test('a required setting whose file cannot be read is reported once', () => {
  const url = 'TEMPER_DATABASE_URL';
  expect(faultsOf({ [url]: undefined, [`${url}_FILE`]: join(dir, 'none') })).toEqual([
    expect.stringMatching(/^TEMPER_DATABASE_URL_FILE: .*could not be read/),
  ]);
});

test('a file that this user may not read is named, without its content', () => {
  const file = fileOf('hidden');
  chmodSync(file, 0);
  const faults = faultsOf({ [`${password}_FILE`]: file });
  // The user root reads it in spite of its mode.
  if (process.getuid?.() === 0) expect(faults).toEqual([]);
  else expect(faults).toEqual([expect.stringContaining(`${file} could not be read: this user may not`)]);
});

test('an API process is refused the opening keys by either name', () => {
  expect(() => refuseOpeningKeys({ TEMPER_SECRETS_PRIVATE_KEYS_FILE: '/run/keys' })).toThrow('BMC workers only');
});
