/** What is known of runbooks without a server: approval by traits, and the rules of a list of steps. */

import { maxSteps } from '../../src/model/lifecycle/steps';
import { checkRunbookSteps, inOrder, type RunbookStep, withStored } from '../../src/model/resources/runbook-steps';
import { runbookApproval } from '../../src/model/resources/runbooks';
import { isTrait } from '../../src/model/resources/traits';

const runbook = { name: 'CUSTOM_RESET', traits: ['CUSTOM_A', 'CUSTOM_B'] };

test.each([
  // minor  traits of the node            approved
  [111, ['CUSTOM_RESET'], true],
  [111, ['CUSTOM_A'], false],
  [112, ['CUSTOM_RESET'], false],
  [112, ['CUSTOM_B', 'CUSTOM_C'], true],
  [112, [], false],
] as const)('a request of 1.%i on a node with %j: approved is %s', (minor, traits, ok) =>
  expect(runbookApproval(runbook, traits, minor).ok).toBe(ok),
);

test('a refusal says what the node needs', () => {
  const wanted = (traits: readonly string[], minor: number) => {
    const approval = runbookApproval({ ...runbook, traits }, [], minor);
    return approval.ok ? '' : approval.wanted;
  };
  expect(wanted([], 111)).toBe('the trait CUSTOM_RESET');
  expect(wanted(['CUSTOM_A', 'CUSTOM_B'], 112)).toBe('one of the traits CUSTOM_A, CUSTOM_B');
  expect(wanted([], 112)).toMatch(/the runbook, which has none/);
});

test.each([
  ['CUSTOM_A1_B', true],
  ['HW_CPU_X86_VMX', true],
  ['COMPUTE_TRUSTED_CERTS', true],
  [`CUSTOM_${'A'.repeat(248)}`, true],
  [`CUSTOM_${'A'.repeat(249)}`, false],
  ['CUSTOM_', false],
  ['CUSTOM_a', false],
  ['CUSTOM_A ', false],
  ['VENDOR_A', false],
  ['', false],
])('%s is a trait: %s', (text, is) => expect(isTrait(text)).toBe(is));

const step = (name: string, order: number): RunbookStep => ({ interface: 'bios', step: name, order, args: {} });

test('steps run by order, and as they came where that is equal', () =>
  expect(inOrder([step('c', 2), step('a', 1), step('b', 1)]).map((one) => one.step)).toEqual(['a', 'b', 'c']));

test('a step comes once in a runbook, a reserved one as often as it is wanted', () => {
  expect(() => checkRunbookSteps([step('a', 1), step('a', 2)])).toThrow('bios.a comes twice');
  expect(() => checkRunbookSteps([step('a', 1), { ...step('a', 2), interface: 'raid' }])).not.toThrow();
  expect(() => checkRunbookSteps([step('wait', 1), step('hold', 2), step('wait', 3)])).not.toThrow();
});

test('a runbook has no more steps than a run takes', () => {
  const many = Array.from({ length: maxSteps + 1 }, (_, index) => step(`s${index}`, index));
  expect(() => checkRunbookSteps(many)).toThrow(`at most ${maxSteps} steps`);
  expect(() => checkRunbookSteps(many.slice(1))).not.toThrow();
});

test('a given step stands for the stored one of its name, the second of a name for the second', () => {
  const stored = [step('a', 1), step('wait', 2), step('wait', 3)];
  const pairs = withStored([step('wait', 1), step('b', 2), step('wait', 3), step('a', 4)], stored);
  expect(pairs.map(({ before }) => before)).toEqual([stored[1], undefined, stored[2], stored[0]]);
});
