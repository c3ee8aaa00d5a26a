/** `temper secrets`: what it prints, asks and does; the store itself is another test's. */
import type { SecretsTool } from '../../src/cli';
import { temper } from './support/command';

const keys = [
  { key_id: 'k1', count: 2 },
  { key_id: 'k2', count: 40 },
];

const tool = (over: Partial<SecretsTool> = {}) => {
  const closed = jest.fn(async () => {});
  const made = jest.fn(async () => {});
  const secrets = (): SecretsTool => ({
    keys: async () => keys,
    reseal: async () => ({ counts: { kept: 1, sealed: 39, foreign: 2, unused: 1 }, keys }),
    findMove: async () => ({ from: 'https://192.0.2.7', to: 'https://192.0.2.8', make: made }),
    close: closed,
    ...over,
  });
  return { secrets, closed, made };
};

test('keys are printed as settings, for all groups or for one, and no settings are needed', async () => {
  const { status, out } = await temper('secrets keys --id k2');
  expect([status, out]).toEqual([
    0,
    '# For API processes and workers:\nTEMPER_SECRETS_PUBLIC_KEYS=k2:cHVi\n# For BMC workers only:\nTEMPER_SECRETS_PRIVATE_KEYS=k2:cHJp\n',
  ]);
  const ofGroup = await temper('--json secrets keys --id k3 --group rack-1');
  expect(JSON.parse(ofGroup.out)).toEqual({
    TEMPER_SECRETS_PUBLIC_KEYS: 'k3@rack-1:cHVi',
    TEMPER_SECRETS_PRIVATE_KEYS: 'k3:cHJp',
  });
  expect(await temper('secrets keys --id a:b')).toMatchObject({ status: 2 });
  expect(await temper(['secrets', 'keys', '--group', 'a,b'])).toMatchObject({ status: 2 });
});

test('sealing again counts what was done, and what is left to which key', async () => {
  const { secrets, closed } = tool();
  const { status, out } = await temper('secrets reseal', { secrets });
  expect(status).toBe(0);
  expect(out).toMatch(
    /^39 sealed again, 1 as they should be; 2 are sealed to keys that are not held here; 1 have no holder/,
  );
  expect(out).toMatch(/k1 +2\nk2 +40\n$/);
  expect(closed).toHaveBeenCalledTimes(1);
});

test('without the settings of a worker it ends with their names', async () => {
  expect(await temper('secrets status')).toMatchObject({ status: 2, err: 'temper: no settings of a worker\n' });
});

describe('a move', () => {
  test('shows both addresses and is made after a yes', async () => {
    const { secrets, made } = tool();
    const asked = jest.fn(async () => true);
    const { status, out, err } = await temper('secrets move n1', { secrets, confirm: asked });
    expect([status, out, err]).toEqual([
      0,
      'Moved.\n',
      expect.stringMatching(/given for https:\/\/192.0.2.7\n.*192.0.2.8/),
    ]);
    expect(made).toHaveBeenCalledTimes(1);
  });

  test('is not made after a no, nor where no person can answer', async () => {
    const { secrets, made, closed } = tool();
    expect(await temper('secrets move n1', { secrets, confirm: async () => false })).toMatchObject({ status: 1 });
    expect(await temper('secrets move n1', { secrets })).toMatchObject({ status: 2 });
    expect(made).not.toHaveBeenCalled();
    expect(closed).toHaveBeenCalledTimes(2);
  });

  test('is made without a question with --yes, and not at all where nothing moved', async () => {
    const { secrets, made } = tool();
    expect(await temper('secrets move n1 --yes', { secrets })).toMatchObject({
      status: 0,
      out: expect.stringMatching(/Moved\.\n$/),
    });
    expect(made).toHaveBeenCalledTimes(1);
    const still = tool({ findMove: async () => undefined });
    expect(await temper('secrets move n1', { secrets: still.secrets })).toMatchObject({
      status: 0,
      out: expect.stringContaining('belong to the BMC'),
    });
  });
});
