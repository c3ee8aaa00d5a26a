/** The table of what each version changed: whole, and the same as what the tables of fields, filters, verbs and routes say. */
import { resourceTables, routes } from '../../src/api';
import { verbs } from '../../src/model/lifecycle/verbs';
import { type ResourceTable, sinceOf } from '../../src/model/resources/fields';
import { maxMinor } from '../../src/model/resources/microversions';
import { stateFields } from '../../src/model/resources/nodes';
import { type Change, versionChanges } from '../../tools/gen/version-changes';

/** Lines "1.50 node.owner" of the changes of one kind. */
const told = <Kind extends Change['is']>(is: Kind, linesOf: (change: Extract<Change, { is: Kind }>) => string[]) =>
  versionChanges
    .flatMap(({ minor, changes }) =>
      changes
        .filter((change): change is Extract<Change, { is: Kind }> => change.is === is)
        .flatMap(linesOf)
        .map((line) => `1.${minor} ${line}`),
    )
    .sort();

test('every version from 1.1 to the newest is there, once and in order', () => {
  expect(versionChanges.map(({ minor }) => minor)).toEqual(Array.from({ length: maxMinor }, (_, at) => at + 1));
});

test('every version says what it changed, and no two say the same', () => {
  for (const { minor, says, changes } of versionChanges) {
    expect([minor, changes.length > 0]).toEqual([minor, true]);
    expect(says).toMatch(/^\S.{10,80}$/);
  }
  expect(new Set(versionChanges.map(({ says }) => says)).size).toBe(maxMinor);
});

test('what virtual switches are sent is out of scope, and nothing else', () => {
  const out = versionChanges.filter(({ outOfScope }) => outOfScope !== undefined);
  expect(out.map(({ minor }) => minor)).toEqual([90, 105]);
});

test('the versions that change nothing are those that only tell what roles can do', () => {
  const markers = versionChanges.filter(({ changes }) => changes.some(({ is }) => is === 'marker'));
  expect(markers.map(({ minor }) => minor)).toEqual([71, 80]);
});

test('fields have the versions that their tables say', () => {
  // What a resource has had since there is one comes with its routes.
  const bornAt = (table: ResourceTable) => Math.min(...table.fields.map(sinceOf));
  const ofTables = resourceTables.flatMap((table) =>
    table.fields
      .filter((row) => sinceOf(row) > bornAt(table) && !row.hidden)
      .map((row) => `1.${row.since} ${table.resource}.${row.name}`),
  );
  const ofStates = stateFields
    .filter(({ since }) => since > 1)
    .map(({ name, since }) => `1.${since} node states.${name}`);
  expect(told('fields', ({ of, names }) => names.map((name) => `${of}.${name}`))).toEqual(
    [...ofTables, ...ofStates].sort(),
  );
});

test('filters have the versions that their tables say', () => {
  const ofTables = resourceTables.flatMap((table) => {
    const born = Math.min(...table.fields.map(sinceOf));
    return table.filters
      .filter((row) => sinceOf(row) > born)
      .map((row) => `1.${row.since} ${table.resource} by ${row.name}`);
  });
  expect(told('filters', ({ of, names }) => names.map((name) => `${of} by ${name}`))).toEqual(ofTables.sort());
});

test('verbs have the versions that their table says', () => {
  const known = Object.entries(verbs).filter(([, { since }]) => since > 1);
  expect(told('verbs', ({ names }) => [...names])).toEqual(
    known.map(([name, { since }]) => `1.${since} ${name}`).sort(),
  );
});

test('routes have the versions, and refuse older ones in the way, that their tables say', () => {
  // A route without answers is there to refuse a caller who looks for one at the wrong path.
  const known = routes.filter(
    ({ path, since, answers = { 200: null } }) =>
      path.startsWith('/v1/') && (since ?? 1) > 1 && Object.keys(answers).length > 0,
  );
  expect(told('routes', ({ names, below }) => names.map((name) => `${name}: ${below}`))).toEqual(
    known.map(({ method, path, since, tooOld }) => `1.${since} ${method} ${path}: ${tooOld ?? 404}`).sort(),
  );
});

test('routes that older versions reach as well have no version of their own', () => {
  const names = versionChanges.flatMap(({ changes }) =>
    changes.flatMap((change) => (change.is === 'ungated' ? change.names.map((name) => name.split('?')[0]) : [])),
  );
  for (const name of names) {
    const found = routes.find(({ method, path }) => `${method} ${path}` === name);
    expect([name, found?.method, found?.path === '/v1/portgroups' ? 1 : (found?.since ?? 1)]).toEqual([
      name,
      name!.split(' ')[0],
      1,
    ]);
  }
});
