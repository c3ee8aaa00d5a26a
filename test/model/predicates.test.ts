/** A condition that follows from another: it holds of every row that the first one shows, so that nothing is lost by it. */
import { and, implied, matches, not, or, type Predicate } from '../../src/model/predicates';

const values = ['a', 'b'] as const;
const of = (column: string): Predicate[] => [
  ...values.map((value): Predicate => ({ is: 'equals', column, value })),
  { is: 'among', column, values: ['a'] },
  { is: 'contains', column, value: 'a' },
  { is: 'null', column },
];
const leaves: Predicate[] = [{ is: 'true' }, { is: 'false' }, ...of('now_owner'), ...of('tenant'), ...of('verb')];
const nested = (parts: readonly Predicate[]): Predicate[] =>
  parts.flatMap((one) => [not(one), ...parts.flatMap((other) => [and(one, other), or(one, other)])]);
const predicates = [
  ...leaves,
  ...nested(leaves),
  ...nested([...leaves.slice(2, 8), not(leaves[2]!), or(leaves[2]!, leaves[6]!)]),
];

const columns = { now_owner: 'owner', tenant: 'lessee' } as const;
const rows = [null, ...values].flatMap((owner) =>
  [null, ...values].flatMap((lessee) => [null, ...values].map((verb) => ({ owner, lessee, verb }))),
);

test('it holds wherever the first one does', () => {
  const lost = predicates.filter((predicate) =>
    rows.some(
      ({ owner, lessee, verb }) =>
        matches(predicate, { now_owner: owner, tenant: lessee, verb }) &&
        !matches(implied(predicate, columns), { owner, lessee }),
    ),
  );
  expect(lost).toEqual([]);
});

test('it keeps what is said of a column that has another name, and drops the rest', () => {
  const mine = or({ is: 'equals', column: 'now_owner', value: 'a' }, { is: 'among', column: 'tenant', values: ['b'] });
  expect(implied(mine, columns)).toEqual(
    or({ is: 'equals', column: 'owner', value: 'a' }, { is: 'among', column: 'lessee', values: ['b'] }),
  );
  expect(implied({ is: 'equals', column: 'verb', value: 'a' }, columns)).toEqual({ is: 'true' });
  expect(implied(not(mine), columns)).toEqual({ is: 'true' });
});
