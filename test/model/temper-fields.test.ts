/** A field of Temper's own is a row of the resource's table: outside the microversions, shown to those who name it. */
import { type Projection, projections } from '../../src/api/resource/representation';
import { createSchema } from '../../src/api/resource/validation';
import { choosable, type ResourceTable } from '../../src/model/resources/fields';

const table: ResourceTable = {
  resource: 'crate',
  collection: 'crates',
  fields: [
    { name: 'uuid', type: 'uuid', inList: true, create: 'optional' },
    { name: 'asset_tag', wire: 'temper', type: 'text', nullable: true, inList: true, create: 'optional' },
    { name: 'links', type: 'links', column: null, always: true },
  ],
  filters: [],
};
const row = { uuid: '6b3454c0-0000-4000-8000-000000000001', asset_tag: 'R12-7' };
const shown = projections(table, { links: () => [] });
const keysOf = ({ represent }: Projection) => Object.keys(represent(row, { base: 'http://api' }) as object);

describe("a field of Temper's own", () => {
  test.each([1, 60, 112])('is not in what a client of version 1.%i is shown unasked', (minor) => {
    expect(keysOf(shown.full(minor))).toEqual(['uuid', 'links']);
    expect(keysOf(shown.ofOne(minor))).toEqual(['uuid', 'links']);
    expect(keysOf(shown.ofList(minor, { detail: true }))).toEqual(['uuid', 'links']);
    expect(keysOf(shown.ofList(minor, { detail: false }))).toEqual(['uuid', 'links']);
  });

  test.each([1, 60, 112])('is shown to a client of version 1.%i that names it', (minor) => {
    expect(choosable(table)).toContain('asset_tag');
    expect(keysOf(shown.ofOne(minor, ['asset_tag']))).toEqual(['asset_tag', 'links']);
    expect(keysOf(shown.ofList(minor, { fields: ['uuid', 'asset_tag'], detail: false }))).toEqual([
      'uuid',
      'asset_tag',
      'links',
    ]);
    expect(shown.ofOne(minor, ['asset_tag']).represent(row, { base: 'http://api' })).toMatchObject({
      asset_tag: 'R12-7',
    });
  });

  test('is taken by a create request like any other', () => {
    expect(createSchema(table).parse({ asset_tag: 'R12-7' })).toEqual({ asset_tag: 'R12-7' });
  });
});
