/** What is known of runbooks without a server: approval by traits, and the rules of a list of steps. */

import { maxSteps } from '../../src/model/lifecycle/steps';
import {
  checkRunbookSteps,
  inOrder,
  labelsOf,
  type RunbookStep,
  withStored,
} from '../../src/model/resources/runbook-steps';
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

test('steps that are in order are the same list, by which a plan finds what it has bound', () => {
  const ordered = [step('a', 1), step('b', 1), step('c', 2)];
  expect(inOrder(ordered)).toBe(ordered);
});

test('a step may come twice in a runbook, and is named with its place then', () => {
  const steps = [step('a', 1), step('b', 2), step('a', 3)];
  expect(() => checkRunbookSteps(steps)).not.toThrow();
  expect(labelsOf(steps)).toEqual(['bios.a (place 1)', 'bios.b', 'bios.a (place 3)']);
});

test('a runbook has no more steps than a run takes', () => {
  const many = Array.from({ length: maxSteps + 1 }, (_, index) => step(`s${index}`, index));
  expect(() => checkRunbookSteps(many)).toThrow(`at most ${maxSteps} steps`);
  expect(() => checkRunbookSteps(many.slice(1))).not.toThrow();
});

describe('the stored step that a given one stands for', () => {
  const at = (name: string, order: number, args: RunbookStep['args'] = {}) => ({ ...step(name, order), args });
  const sealed = (id: string, more: object = {}) => ({ password: { $secret: id }, ...more });
  const shown = (more: object = {}) => ({ ...more, password: '******' });
  const places = (given: readonly RunbookStep[], stored: readonly RunbookStep[]) =>
    withStored(given, stored).map(({ before }) => before && stored.indexOf(before));
  const two = [at('a', 1, sealed('one', { user: 'x' })), at('b', 2), at('a', 3, sealed('two', { user: 'y' }))];

  test.each([
    [
      'is that of its name, wherever it has moved to',
      [at('b', 1), at('c', 2), at('a', 3, shown())],
      [at('a', 1, sealed('one')), at('b', 2)],
      [1, undefined, 0],
    ],
    ['is that of its place where a name comes twice', [at('a', 1, shown()), at('a', 2, shown())], [at('a', 5, sealed('one')), at('a', 6, sealed('two'))], [0, 1]], // biome-ignore format: one list
    ['is that with its arguments, if two changed places', [at('a', 1, shown({ user: 'y' })), at('b', 2), at('a', 3, shown({ user: 'x' }))], two, [2, 1, 0]], // biome-ignore format: one list
    [
      'is that with its arguments, if the first was removed',
      [at('b', 1), at('a', 2, shown({ user: 'y' }))],
      two,
      [1, 2],
    ],
    ['is the one left over, if an argument changed', [at('a', 1, shown({ user: 'x' })), at('b', 2), at('a', 3, shown({ user: 'z' }))], two, [0, 1, 2]], // biome-ignore format: one list
    ['is that whose secret a patch left in it', [at('a', 1, sealed('two', { user: 'z' })), at('b', 2)], two, [2, 1]],
    ['is none, if it may be either', [at('a', 1, shown({ user: 'z' })), at('b', 2)], two, [undefined, 1]],
    ['is none, if what it shows was two', [at('a', 1, shown())], [at('a', 1, sealed('one')), at('a', 2, sealed('two'))], [undefined]], // biome-ignore format: one list
    ['is none for a second that was added', [at('a', 1, shown()), at('a', 2, shown())], [at('a', 1, sealed('one'))], [undefined, undefined]], // biome-ignore format: one list
  ] as const)('%s', (_, given, stored, wanted) => expect(places(given, stored)).toEqual(wanted));
});
