/** What a runbook leaves open: what a schema admits, what a value fits, and what stands in arguments in the end. */
import { holdsSecrets, maskSecrets, replaceSecrets } from '../../src/model/access/secrets';
import { isTemperError } from '../../src/model/errors';
import { schemaFault, valueFault } from '../../src/model/resources/parameter-schema';
import {
  checkOpenArgs,
  leavesOpen,
  type NodeFacts,
  type RunbookParameter,
  resolveSteps,
} from '../../src/model/resources/runbook-parameters';
import type { RunbookStep } from '../../src/model/resources/runbook-steps';
import { costOf } from '../support/processor-time';

const nested = (depth: number): unknown => (depth === 0 ? {} : { items: nested(depth - 1) });

describe('a schema', () => {
  test.each([
    [{}, undefined],
    [{ type: 'string', enum: ['a'], minLength: 1, maxLength: 9, title: 't', description: 'd' }, undefined],
    [{ type: ['integer', 'null'], minimum: 0, maximum: 9 }, undefined],
    [
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
      undefined,
    ],
    [nested(5), undefined],
    [nested(6), 'deeper than 5'],
    ['string', 'must be an object'],
    [{ type: 'text' }, 'must be one of'],
    [{ type: 'constructor' }, 'must be one of'],
    [{ pattern: '(a+)+$' }, 'keyword pattern is not known'],
    [{ $ref: '#' }, 'keyword $ref is not known'],
    [{ constructor: {} }, 'keyword constructor is not known'],
    [JSON.parse('{"__proto__": {}}'), 'keyword __proto__ is not known'],
    [{ enum: [] }, 'list of 1 to'],
    [{ minLength: -1 }, 'whole number'],
    [{ properties: { a: { type: 'x' } } }, 'a: type'],
  ])('%j: %s', (schema, fault) => {
    if (fault === undefined) expect(schemaFault(schema)).toBeUndefined();
    else expect(schemaFault(schema)).toContain(fault);
  });
});

describe('a value', () => {
  test.each([
    [{}, 'anything', undefined],
    [{ type: 'string' }, 1, 'of type string'],
    [{ type: 'integer' }, 1.5, 'of type integer'],
    [{ type: 'integer' }, 2 ** 60, 'of type integer'],
    [{ type: ['string', 'null'] }, null, undefined],
    [{ enum: ['a', { b: [1] }] }, { b: [1] }, undefined],
    [{ enum: ['a'] }, 'b', 'one of "a"'],
    [{ const: 'a' }, 'b', 'the one value'],
    [{ minimum: 3 }, 2, 'at least 3'],
    [{ maximum: 3 }, 4, 'at most 3'],
    [{ minLength: 2 }, 'a', 'a length of at least 2'],
    [{ items: { type: 'string' }, maxItems: 2 }, ['a', 1], 'item 1 must be of type string'],
    [{ items: { type: 'string' }, maxItems: 1 }, ['a', 'b'], 'a length of at most 1'],
    [{ properties: { a: { type: 'string' } }, required: ['a'] }, {}, 'lacks a'],
    [{ properties: { a: { type: 'string' } }, additionalProperties: false }, { b: 1 }, 'unexpected key b'],
    [{ properties: {}, additionalProperties: false }, JSON.parse('{"__proto__": 1}'), 'unexpected key __proto__'],
    [{ required: ['toString'] }, {}, 'lacks toString'],
    [{ maxLength: 2 }, '\u{1F5A5}\u{1F5A5}', undefined],
    [{ minLength: 3 }, '\u{1F5A5}\u{1F5A5}', 'a length'],
  ])('%j with %j: %s', (schema, value, fault) => {
    if (fault === undefined) expect(valueFault(schema, value)).toBeUndefined();
    else expect(valueFault(schema, value)).toContain(fault);
  });
});

const node: NodeFacts = {
  vendor: 'Dell Inc.',
  model: 'R760',
  resource_class: 'gold',
  traits: ['CUSTOM_A', 'CUSTOM_B'],
};
const step = (args: Record<string, unknown>, name = 'x'): RunbookStep => ({
  interface: 'bios',
  step: name,
  order: 1,
  args,
});
const parameter = (name: string, more: Partial<RunbookParameter> = {}): RunbookParameter => ({
  name,
  schema: {},
  ...more,
});

const resolve = (args: Record<string, unknown>, parameters: readonly RunbookParameter[] = [], given = {}, on = node) =>
  resolveSteps({ name: 'BOOK', parameters, steps: [step(args)] }, given, on, (check) => check());
const refusal = (act: () => unknown): string => {
  try {
    act();
  } catch (thrown) {
    if (isTemperError(thrown)) return thrown.message;
  }
  return '';
};

describe('resolution', () => {
  const by = (key: string, more: object) => ({ value: { $by: key, ...more } });

  test.each([
    ['a parameter', { value: { $param: 'v' } }, { v: '2.1' }, { value: '2.1' }],
    ['its default', { value: { $param: 'd' } }, { v: 1 }, { value: 'standard' }],
    ['a vendor, whatever its case', by('vendor', { 'dell inc.': 'a', default: 'b' }), { v: 1 }, { value: 'a' }],
    ['a default', by('model', { R650: 'a', default: 'b' }), { v: 1 }, { value: 'b' }],
    ['a default of null', by('model', { R650: 'a', default: null }), { v: 1 }, { value: null }],
    ['a resource class', by('resource_class', { gold: [1], default: 'b' }), { v: 1 }, { value: [1] }],
    ['a trait', by('trait', { CUSTOM_B: 'b', CUSTOM_C: 'c' }), { v: 1 }, { value: 'b' }],
    [
      'one within the other',
      by('vendor', { 'Dell Inc.': { $by: 'model', r760: { $param: 'v' } } }),
      { v: 7 },
      { value: 7 },
    ],
    ['within lists', { list: [{ a: { $param: 'v' } }, 1] }, { v: 7 }, { list: [{ a: 7 }, 1] }],
  ])('%s', (_, args, given, resolved) => {
    const parameters = [parameter('v'), parameter('d', { default: 'standard' })];
    expect(resolve(args, parameters, given).steps[0]!.args).toEqual(resolved);
  });

  test.each([
    [
      'an undeclared parameter',
      { value: { $param: 'w' } },
      [],
      {},
      'w of runbook BOOK is used by a step, and not declared',
    ],
    [
      'a value for one that is not there',
      {},
      [parameter('version')],
      { version: 1, verison: 2 },
      'verison of runbook BOOK is not one of this runbook, which has version. Did you mean version?',
    ],
    [
      'names that objects inherit',
      {},
      [parameter('v', { default: 1 })],
      JSON.parse('{"__proto__": 1}'),
      '__proto__ of runbook BOOK is not one',
    ],
    [
      'a wrong type',
      {},
      [parameter('v', { schema: { type: 'integer' } })],
      { v: 'a' },
      'v of runbook BOOK must be of type integer',
    ],
    ['a missing one', {}, [parameter('v')], {}, 'v of runbook BOOK is missing, and has no default'],
    [
      'a reference to a stored secret',
      {},
      [parameter('v')],
      { v: { a: [{ $secret: 'x' }] } },
      'no key that begins with $',
    ],
    [
      'an unknown vendor',
      by('vendor', { hpe: 1 }),
      [],
      {},
      'cannot be chosen: the node has "Dell Inc.", and there is no default',
    ],
    ['a node of two traits', by('trait', { CUSTOM_A: 1, CUSTOM_B: 2 }), [], {}, 'fits CUSTOM_A and CUSTOM_B'],
  ] as const)('%s is refused, and its text holds no value', (_, args, parameters, given, text) => {
    expect(refusal(() => resolve(args, parameters, given))).toContain(text);
  });

  test('a node of which nothing is known takes the default, or is refused', () => {
    const nothing = { vendor: null, model: null, resource_class: null, traits: [] };
    const choice = (more: object) => ({ value: { $by: 'vendor', 'dell inc.': 1, ...more } });
    expect(resolve(choice({ default: 2 }), [], {}, nothing).steps[0]!.args).toEqual({ value: 2 });
    expect(refusal(() => resolve(choice({}), [], {}, nothing))).toContain('the node has an unknown one');
  });

  test('a value is what it is: nothing in it is resolved again', () => {
    expect(resolve({ value: { $param: 'v' } }, [parameter('v')], { v: '{"$param": "v"}' }).steps[0]!.args).toEqual({
      value: '{"$param": "v"}',
    });
  });

  test('every refusal is met where the attempts go on, and the other steps stay', () => {
    const refused: string[] = [];
    const attempt = <T>(check: () => T): T | undefined => {
      try {
        return check();
      } catch (thrown) {
        refused.push((thrown as Error).message);
        return undefined;
      }
    };
    const steps = [step({ v: { $param: 'a' } }), step({ v: 1 }, 'y')];
    const resolved = resolveSteps(
      { name: 'BOOK', parameters: [parameter('a'), parameter('b')], steps },
      { c: 1 },
      node,
      attempt,
    );
    expect(refused).toHaveLength(4);
    expect(resolved.steps.map(({ step: name }) => name)).toEqual(['y']);
  });
});

describe('secrets', () => {
  test.each([
    ['one that is declared secret', { v: { $param: 'p' } }, [parameter('p', { secret: true })]],
    ['one whose name says so', { v: { $param: 'admin_password' } }, [parameter('admin_password')]],
    ['one that stands in the place of a secret', { password: { $param: 'p' } }, [parameter('p')]],
    ['one within a choice there', { password: { $by: 'vendor', default: { $param: 'p' } } }, [parameter('p')]],
    ['one of a BIOS setting', { settings: [{ name: 'AdminPassword', value: { $param: 'p' } }] }, [parameter('p')]],
  ] as const)('%s is not shown', (_, args, parameters) => {
    const name = parameters[0]!.name;
    const resolved = resolve(args, parameters, { [name]: 'correct-horse' });
    expect(resolved.parameters).toEqual({ [name]: '******' });
    expect(JSON.stringify(resolved.steps)).toContain('correct-horse');
  });

  test('a URL with a password is masked, other values are shown', () => {
    const parameters = [parameter('url'), parameter('n')];
    expect(resolve({}, parameters, { url: 'https://u:correct-horse@images.example.org/x', n: [1] }).parameters).toEqual(
      {
        url: 'https://u:******@images.example.org/x',
        n: [1],
      },
    );
  });

  test('a parameter in the place of a secret is none: it is neither sealed nor masked', () => {
    const args = { password: { $param: 'p' } };
    expect(holdsSecrets(args)).toBe(false);
    expect(maskSecrets(args)).toEqual(args);
    for (const disguised of [{ $param: 'p', a: 1 }, { $param: 'Correct Horse' }, { $param: 1 }])
      expect(replaceSecrets({ password: disguised }, () => 'sealed')).toEqual({ password: 'sealed' });
  });
});

describe('what is refused when it is written', () => {
  test.each([
    [{ v: { $by: 'colour', a: 1 } }, '$by must be one of vendor, model, resource_class, trait'],
    [{ v: { $by: 'vendor' } }, 'has no values'],
    [{ v: [{ $param: 'Not A Name' }] }, 'with the name of a parameter'],
    [{ v: { $param: 'a', more: 1 } }, 'has that key alone'],
    [{ v: { $by: 'vendor', default: { $param: 'constructor.x' } } }, 'with the name of a parameter'],
    [{ password: { $by: 'vendor', default: 'x' } }, 'a secret cannot be chosen'],
    [{ v: { $by: 'vendor', default: { password: 'x' } } }, 'a secret cannot be chosen'],
    [{ v: { $by: 'vendor', default: 'https://u:p@images.example.org' } }, 'a secret cannot be chosen'],
    [
      { v: [1, 2, 3, 4, 5, 6].reduce((inner: unknown) => ({ $by: 'vendor', default: inner }), 1) },
      'nested deeper than 5',
    ],
  ])('%j', (args, text) => {
    expect(refusal(() => checkOpenArgs([step(args as never)]))).toContain(text);
    expect(leavesOpen(args)).toBe(true);
  });

  test('and what is not', () => {
    expect(
      refusal(() => checkOpenArgs([step({ password: { $param: 'p' }, v: { $by: 'trait', CUSTOM_A: 1 }, w: 'x' })])),
    ).toBe('');
    expect(leavesOpen({ a: [{ b: 1 }], c: null })).toBe(false);
  });
});

describe('what arguments come to is counted before they are put together', () => {
  const text = (bytes: number) => 'x'.repeat(bytes - 2);
  const times = (count: number) => Array.from({ length: count }, () => ({ $param: 'v' }));

  test('each time that a value is used', () => {
    expect(resolve({ list: times(15) }, [parameter('v')], { v: text(4_096) }).steps).toHaveLength(1);
    expect(refusal(() => resolve({ list: times(16) }, [parameter('v')], { v: text(4_096) }))).toContain(
      'come to more bytes than a run carries, at most 65536',
    );
  });

  test('over all steps', () => {
    const book = {
      name: 'BOOK',
      parameters: [parameter('v', { default: text(4_096) })],
      steps: Array.from({ length: 20 }, (_, at) => step({ value: { $param: 'v' } }, `s${at}`)),
    };
    const refusals: string[] = [];
    const collect = <T>(check: () => T): T | undefined => {
      try {
        return check();
      } catch (thrown) {
        refusals.push((thrown as Error).message);
        return undefined;
      }
    };
    expect(resolveSteps(book, {}, node, collect).steps).toHaveLength(15);
    expect(new Set(refusals).size).toBe(1);
  });

  test('of a choice the branch that is taken', () => {
    const args = { value: { $by: 'vendor', 'dell inc.': 'a', default: text(70_000) } };
    expect(resolve(args).steps[0]!.args).toEqual({ value: 'a' });
    expect(refusal(() => resolve(args, [], {}, { ...node, vendor: 'HPE' }))).toContain('more bytes than a run carries');
  });

  test('a value that no run carries is no value of a parameter, given or by default', () => {
    const value = text(65_537);
    expect(refusal(() => resolve({ a: { $param: 'v' } }, [parameter('v')], { v: value }))).toContain(
      'v of runbook BOOK has 65537 bytes, and a run carries at most 65536',
    );
    expect(refusal(() => resolve({ a: { $param: 'v' } }, [parameter('v', { default: value })]))).toContain(
      '65537 bytes',
    );
  });
});

test('a plan of many nodes looks through a long runbook once', () => {
  const steps = [step({ settings: Array(500).fill({ name: 'A', value: { $param: 'p' } }) })];
  const parameters = [parameter('p', { default: 'x'.repeat(60_000) })];
  const given = {};
  const goOn = <T>(check: () => T): T | undefined => {
    try {
      return check();
    } catch {
      return undefined; // more than a run carries
    }
  };
  const plan = (stepsOf: () => RunbookStep[]) =>
    costOf(() => {
      for (let at = 0; at < 300; at += 1)
        resolveSteps({ name: 'BOOK', parameters, steps: stepsOf() }, given, node, goOn);
    });
  const anotherEach = plan(() => [...steps]);
  expect(plan(() => steps)).toBeLessThan(anotherEach / 3);
});
