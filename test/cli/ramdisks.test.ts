/** `temper ramdisk`: what is recorded of an image that was made where the command runs, and what is refused before that. */
import type { Installation } from '../../src/cli';
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

let api: Double;
const stored = {
  kernel_sha256: 'b'.repeat(64),
  initrd_sha256: 'c'.repeat(64),
  iso_sha256: 'a'.repeat(64),
  iso_bytes: 10 * 2 ** 20,
  arguments_at: 4_096,
  arguments_bytes: 2_048,
  files_at: 8_192,
  files_bytes: 65_536,
};
const record = { uuid: 'u', name: 'debian', arch: 'x86_64', args: 'console=ttyS0', ...stored, created_at: 'now' };
beforeAll(async () => {
  api = await startDouble(({ method }) => ({ json: method === 'GET' ? { ramdisks: [record] } : record }));
});
beforeEach(() => {
  api.asked.length = 0;
});
afterAll(() => api.close());

const does = (line: readonly string[], storeRamdisk: Installation['storeRamdisk'] = async () => stored) =>
  temper(['ramdisk', ...line], { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' }, storeRamdisk });

test('an image is made first, and its digest and offsets are what is recorded', async () => {
  const store = jest.fn(async () => stored);
  const given = ['--kernel', '/k', '--initrd', '/i', '--args', 'console=ttyS0', '--dir', '/d'];
  const { status, out } = await does(['add', 'debian', ...given], store);
  expect(status).toBe(0);
  expect(out).toContain(`iso_sha256: ${'a'.repeat(64)}`);
  expect(store).toHaveBeenCalledWith({ kernel: '/k', initrd: '/i', arch: 'x86_64', dir: '/d' });
  expect(api.asked).toMatchObject([
    {
      method: 'POST',
      path: '/temper/v1/ramdisks',
      body: { name: 'debian', arch: 'x86_64', args: 'console=ttyS0', ...stored },
    },
  ]);
});

test('the list shows names, sizes and arguments', async () => {
  const { out } = await does(['list']);
  expect(out).toMatch(/debian\s+x86_64\s+10\s+aaaaaaaaaaaaaaaa\s+console=ttyS0/);
});

test('a ramdisk is removed by its name', async () => {
  await does(['remove', 'debian']);
  expect(api.asked).toMatchObject([{ method: 'DELETE', path: '/temper/v1/ramdisks/debian' }]);
});

test.each([
  ['neither files nor an image', ['add', 'x']],
  ['a kernel alone', ['add', 'x', '--kernel', '/k']],
  ['both', ['add', 'x', '--iso', '/o', '--kernel', '/k', '--initrd', '/i']],
  ['an unknown architecture', ['add', 'x', '--iso', '/o', '--arch', 'vax']],
  ['arguments with a quote', ['add', 'x', '--iso', '/o', '--args', 'a="b"']],
  ['a token of the operator’s own', ['add', 'x', '--iso', '/o', '--args', 'ipa-agent-token=x']],
])('%s is wrong usage, and no image is made', async (_, line) => {
  const store = jest.fn(async () => stored);
  expect((await does(line, store)).status).toBe(2);
  expect(store).not.toHaveBeenCalled();
  expect(api.asked).toEqual([]);
});
