/** `~.` at the start of a line ends a console; everything else is sent. */
import { escapes } from '../../src/cli/nodes/console';

test.each([
  [['ls\r~.more'], 'ls\r', true],
  [['~.'], '', true],
  [['~', '.'], '', true],
  [['a~.'], 'a~.', false],
  [['\r~~.'], '\r~.', false],
  [['\n~x'], '\n~x', false],
])('%j', (typed, sent, ends) => {
  const filter = escapes();
  const results = typed.map((text) => filter(Buffer.from(text)));
  expect(Buffer.concat(results.map(({ send }) => send)).toString()).toBe(sent);
  expect(results.at(-1)!.ends).toBe(ends);
});
