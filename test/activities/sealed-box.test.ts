/** What a sealed box costs where it is opened: one at each look at a BMC. */
import { diffieHellman, generateKeyPairSync } from 'node:crypto';
import { newPair, privateKey, publicKey } from '../../src/inventory/secrets/sealed-box';

test('a public key is what its 32 bytes say', () => {
  const { publicRaw, privateRaw } = newPair();
  expect(publicKey('k', publicRaw).key.equals(privateKey('k', privateRaw).key)).toBe(true);
  expect(() => publicKey('k', publicRaw.subarray(1))).toThrow();
});

test('to read a public key takes less time than to agree on a key with it', () => {
  const { publicRaw } = newPair();
  const own = generateKeyPairSync('x25519');
  const { key } = publicKey('k', publicRaw);
  const took = (work: () => unknown): number => {
    const began = performance.now();
    for (let time = 0; time < 20; time++) work();
    return performance.now() - began;
  };
  // The shortest of many, in turn: a machine that is busy makes single ones long.
  let [read, agree] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let turn = 0; turn < 50; turn++) {
    read = Math.min(
      read,
      took(() => publicKey('k', publicRaw)),
    );
    agree = Math.min(
      agree,
      took(() => diffieHellman({ privateKey: own.privateKey, publicKey: key })),
    );
  }
  expect(read).toBeLessThan(agree);
});
