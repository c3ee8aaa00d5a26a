/** The one digest of texts: a different one would forget what is stored under the digests of the release before. */
import { hashOf } from '../../src/inventory/secrets/boot-tokens';
import { sha256Of } from '../../src/model/digests';

// The vectors of FIPS 180-2 (one block, and none), and a text beyond ASCII as sha256sum has it.
test.each([
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['ü', '607474ca475a9724d7360aba71a56d5df77e61350e3f724cfa1f46e857e2d85f'],
])('of %j it is %s, and so is what a ticket or a token is found by', (text, digest) => {
  expect(sha256Of(text)).toBe(digest);
  expect(hashOf(text)).toBe(digest);
});
