/** The grammar of kernel arguments: what GRUB would read as something else is refused, with the reason. */
import fc from 'fast-check';
import {
  argumentLine,
  argumentsFault,
  givenArgumentsFault,
  longestArguments,
} from '../../src/model/boot/kernel-arguments';

it.each(['', 'console=ttyS0,115200 net.ifnames=0 quiet', 'ip=[2001:db8::7]:none ipa-debug=1 sshkey=AAAA+/='])(
  'takes %s',
  (text) => expect(argumentsFault(text)).toBeUndefined(),
);

it.each([
  ['a="b"', 'must not hold "'],
  ["a='b'", "must not hold '"],
  ['a\nboot', 'must not hold the character U+000A'],
  ['a\tb', 'must not hold the character U+0009'],
  ['a\u0000', 'must not hold the character U+0000'],
  ['a{b}', 'must not hold {'],
  ['a;b', 'must not hold ;'],
  ['a$b', 'must not hold $'],
  ['a\\b', 'must not hold \\'],
  ['a|b', 'must not hold |'],
  ['a&b', 'must not hold &'],
  ['a#b', 'must not hold #'],
  ['ä', 'must not hold the character U+00E4'],
  ['a  b', 'must be separated by single blanks'],
  [' a', 'must be separated by single blanks'],
  [
    'a '.repeat(longestArguments).trim(),
    `has ${2 * longestArguments - 1} characters, and there is room for ${longestArguments}`,
  ],
])('refuses %j', (text, reason) => expect(argumentsFault(text)).toBe(reason));

it.each([
  'ipa-agent-token=x',
  'quiet ipa-api-url=http://192.0.2.66',
  'BOOTIF=x',
  'initrd=x',
  'boot_method=pxe',
  'ipa-inspection-callback-url=x',
])('lets no operator set %s', (text) => expect(givenArgumentsFault(text)).toMatch(/which each boot sets itself/));

const facts = {
  by: 'vmedia' as const,
  apiUrl: 'http://192.0.2.1:6387',
  mac: '52:54:00:77:00:01',
  inspection_url: null,
};

it('puts a node together with its ramdisk', () => {
  expect(argumentLine({ facts, ramdisk: 'console=ttyS0', room: 1_024 })).toBe(
    'console=ttyS0 ipa-api-url=http://192.0.2.1:6387 boot_method=vmedia BOOTIF=52:54:00:77:00:01',
  );
  expect(argumentLine({ facts, ramdisk: 'console=ttyS0', node: '%default% debug', room: 1_024 })).toMatch(
    /^console=ttyS0 debug ipa-/,
  );
  expect(argumentLine({ facts, ramdisk: 'console=ttyS0', node: 'debug', room: 1_024 })).toMatch(/^debug ipa-/);
});

it('leaves room for the token, which comes with the sending', () => {
  const line = argumentLine({ facts, ramdisk: '', room: 1_024 });
  const needed = line.length + ' ipa-agent-token='.length + 43;
  expect(argumentLine({ facts, ramdisk: '', room: needed })).toBe(line);
  expect(() => argumentLine({ facts, ramdisk: '', room: needed - 1 })).toThrow(/there is room for/);
});

it('never makes a line that its own grammar refuses', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (ramdisk, node) => {
      let line: string;
      try {
        line = argumentLine({ facts, ramdisk, node, room: 1_024 });
      } catch {
        return;
      }
      expect(argumentsFault(line)).toBeUndefined();
      expect(line.match(/ipa-api-url=/g)).toHaveLength(1);
    }),
  );
});
