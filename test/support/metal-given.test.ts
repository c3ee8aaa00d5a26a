/** When `npm run test:metal` skips its tests, and when it fails. */

const { metalGiven } = jest.requireActual('../../scripts/lib/metal-given');
const { Unreachable } = jest.requireActual('../../scripts/lib/debian-root');

const nothing = async () => undefined;
const tools = async () => '/tools';
const fails = (failure: Error) => async () => Promise.reject(failure);

test('a machine that lacks something skips the metal tests by name, and nothing is made', async () => {
  const made = jest.fn(tools);
  await expect(metalGiven(async () => 'needs root', made, made)).resolves.toEqual({
    TEMPER_TEST_METAL_MISSING: 'needs root',
  });
  expect(made).not.toHaveBeenCalled();
});

test('without QEMU, and without a mirror to have it from, they are skipped by name', async () => {
  const answer = await metalGiven(nothing, fails(new Unreachable('no route')), async () => ({}));
  expect(answer).toEqual({ TEMPER_TEST_METAL_MISSING: 'needs QEMU: no route' });
});

test('tools, a ramdisk or an image that cannot be made is a failure, and skips nothing', async () => {
  const broken = new Error('the initramfs cannot be packed');
  await expect(metalGiven(nothing, fails(broken), async () => ({}))).rejects.toBe(broken);
  await expect(metalGiven(nothing, tools, fails(broken))).rejects.toBe(broken);
  const away = new Unreachable('no route');
  await expect(metalGiven(nothing, tools, fails(away))).rejects.toBe(away);
});

test('what was made is handed to the tests', async () => {
  const answer = await metalGiven(nothing, tools, async (root: string) => ({ image: `${root}/system.raw` }));
  expect(JSON.parse(answer.TEMPER_TEST_METAL)).toEqual({ tools: '/tools', image: '/tools/system.raw' });
});
