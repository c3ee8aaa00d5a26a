/** The route table itself: every route says by which rules it is decided, and the rules exist. */
import { routes } from '../../src/api';
import { createPolicy } from '../../src/policy';

/** Rules for single steps exist only where an operator defined them. */
const optional = /^baremetal:step:execute:\*$/;

const policy = createPolicy({ set: 'temper' });
const named = routes.map((one) => [`${one.method} ${one.path}`, one] as const);

test('every route names the rules that decide about it, or is public', () => {
  const silent = named.filter(([, { rules }]) => rules !== 'public' && rules.length === 0).map(([name]) => name);
  expect(silent).toEqual([]);
});

test('only discovery and the description are public', () => {
  expect(named.filter(([, { rules }]) => rules === 'public').map(([name]) => name)).toEqual([
    'GET /',
    'GET /v1',
    'GET /temper/v1/openapi.json',
    'GET /temper/v1/docs',
    'GET /temper/v1/docs/:asset',
  ]);
});

test('only ramdisks need not be known, and they are asked for their rules all the same', () => {
  const open = named.filter(([, one]) => one.open);
  expect(open.map(([name, { rules }]) => [name, rules])).toEqual([
    ['GET /v1/lookup', ['baremetal:driver:ipa_lookup']],
    ['POST /v1/heartbeat/:node_ident', ['baremetal:node:ipa_heartbeat']],
    ['POST /v1/continue_inspection', ['baremetal:driver:ipa_continue_inspection']],
  ]);
});

test('every rule that a route names is defined', () => {
  const unknown = named.flatMap(([name, { rules }]) =>
    rules === 'public'
      ? []
      : rules.filter((rule) => !optional.test(rule) && !policy.has(rule)).map((rule) => `${name}: ${rule}`),
  );
  expect(unknown).toEqual([]);
});

test('no method and path is served twice', () => {
  const names = named.map(([name]) => name.replace(/:\w+/g, ':x'));
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});
