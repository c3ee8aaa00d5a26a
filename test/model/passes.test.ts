/** Passes until a signal: a pass that fails is reported and followed by another, and a pause ends with the signal. */
import { passUntil, pause } from '../../src/model/passes';

test('a pause ends when it is over, or with the signal', async () => {
  const ended = new AbortController();
  await pause(1, ended.signal);
  const long = pause(3_600_000, ended.signal);
  ended.abort();
  await long;
  await pause(3_600_000, ended.signal);
});

test('a row of failures is reported once, each wait hears what the pass gave, and the end is silent', async () => {
  const ended = new AbortController();
  const given = [Error('a'), Error('b'), 'c', Error('d'), Error('e')];
  const [warnings, heard]: [unknown[], unknown[]] = [[], []];
  const log = { warn: (text: string, facts?: object) => void warnings.push([text, facts]) };
  const wait = async (passed: unknown) => void heard.push(passed);
  await passUntil({ signal: ended.signal, log, failing: 'cannot pass', wait }, async () => {
    const next = given.shift();
    if (given.length === 0) ended.abort();
    if (next instanceof Error) throw next;
    return next;
  });
  expect(heard).toEqual([undefined, undefined, 'c', undefined, undefined]);
  expect(warnings).toEqual(['a', 'd'].map((text) => ['cannot pass', { reason: `Error: ${text}` }]));
});
