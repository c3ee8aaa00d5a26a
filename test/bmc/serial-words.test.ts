/** What a shell makes of the words for ipmitool: exactly these words, whatever driver_info holds. */
import { execFileSync } from 'node:child_process';
import { commandOf } from '../../src/bmc/ipmi/serial-line';

test.each([
  [["it's", '$(id)', '`id`', '"; id; "', 'a b', '\\', '*', '', '-x', '&& id', '#']],
  [["'", "''", "'\\''", '$HOME', '~', '!!', '{a,b}']],
])('%j', (words) => {
  const script = `console.log(JSON.stringify(process.argv.slice(1)))`;
  const out = execFileSync('/bin/sh', ['-c', commandOf([process.execPath, '-e', script, '--', ...words])]);
  expect(JSON.parse(String(out))).toEqual(words);
});
