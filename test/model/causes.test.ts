/** Causes of failed runs are a closed list: each code has one, and every code of a BMC, a ramdisk or an image has one. */
import { errors } from '../../src/model/errors';
import { causeNames, causes, causesByCode, ramdiskSilent } from '../../src/model/runs/causes';

test('no code has two causes, and each is an error or the silence of a ramdisk', () => {
  const codes = causesByCode.map(([code]) => code);
  expect(new Set(codes).size).toBe(codes.length);
  for (const code of codes) expect(code === ramdiskSilent || code in errors).toBe(true);
});

// They never end an attempt: requests alone are refused by them.
const ofRequests = ['ImageInUse', 'RamdiskInUse', 'RamdiskTooEarly', 'RamdiskNeeded'];

test('every error that an attempt can end with has a cause', () => {
  const listed: readonly string[] = causesByCode.map(([code]) => code);
  const ofMachines = Object.keys(errors).filter((code) => /^(Bmc|Agent|Ramdisk|Image)[A-Z]/.test(code));
  expect(ofMachines.filter((code) => !listed.includes(code) && !ofRequests.includes(code))).toEqual([]);
});

test('causes are plain words, and each says what it means', () => {
  for (const name of causeNames) expect(name).toMatch(/^[a-z_]+$/);
  for (const { says } of Object.values(causes)) expect(says).toMatch(/^[A-Z].*\.$/);
});
