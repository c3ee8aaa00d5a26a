/** The page about inspection rules: it names every operation, and every attribute that rules can set. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { actionArgs, conditionArgs, type RuleStep, settable, stepFault } from '../../src/model/inspection/rule-ops';

const page = readFileSync(join(__dirname, '../../docs/inspection-rules.md'), 'utf8');

test('every operation and its arguments are documented', () => {
  const rows: Readonly<Record<string, { required: readonly string[]; optional?: readonly string[] }>> = {
    ...conditionArgs,
    ...actionArgs,
  };
  for (const [op, row] of Object.entries(rows)) {
    const line = page.split('\n').find((one) => one.startsWith('|') && one.includes(`\`${op}\``)) ?? '';
    const args = [...row.required, ...(row.optional ?? [])];
    expect({ op, missing: args.filter((name) => !line.includes(name)) }).toEqual({ op, missing: [] });
  }
});

test('every attribute that a rule can set is documented', () => {
  for (const { names } of Object.values(settable)) for (const name of names) expect(page).toContain(`\`${name}\``);
});

test('its example can be run', () => {
  const lists = [...page.matchAll(/'(\[\{.*\}\])'/g)].map(([, text]) => JSON.parse(text!) as RuleStep[]);
  expect(lists).toHaveLength(2);
  for (const step of lists.flat()) expect(stepFault(step)).toBeUndefined();
});
