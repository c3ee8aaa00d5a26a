/** Which card a VIF gets, by Ironic's order, and which it does not get. */
import { type VifCards, vifPlace } from '../../src/model/resources/vif-places';

type Given = Partial<VifCards['ports'][number]> & { readonly uuid: string };
const cardsOf = (ports: readonly Given[], portgroups: VifCards['portgroups'] = []): VifCards => ({
  ports: ports.map((port) => ({
    portgroup_uuid: null,
    physical_network: null,
    pxe_enabled: true,
    taken: false,
    ...port,
  })),
  portgroups,
});
const group = (uuid: string, taken = false) => ({ uuid, taken });
const placed = (cards: VifCards, wish = {}): string | undefined => {
  const place = vifPlace(cards, 0, wish);
  return place && (place.port_uuid ?? place.portgroup_uuid ?? 'none');
};

test.each([
  ['the first of equal ports', cardsOf([{ uuid: 'a' }, { uuid: 'b' }]), 'a'],
  ['a port that boots', cardsOf([{ uuid: 'a', pxe_enabled: false }, { uuid: 'b' }]), 'b'],
  [
    'a free port',
    cardsOf([
      { uuid: 'a', taken: true },
      { uuid: 'b', pxe_enabled: false },
    ]),
    'b',
  ],
  [
    'a portgroup before a port that boots',
    cardsOf([{ uuid: 'a' }, { uuid: 'm', portgroup_uuid: 'g', pxe_enabled: false }], [group('g')]),
    'g',
  ],
  ['no empty portgroup', cardsOf([{ uuid: 'a' }], [group('g')]), 'a'],
  ['no member of a free portgroup', cardsOf([{ uuid: 'm', portgroup_uuid: 'g' }], [group('g', true)]), undefined],
  [
    'a member of a portgroup of which another is attached',
    cardsOf(
      [
        { uuid: 'm', portgroup_uuid: 'g', taken: true },
        { uuid: 'n', portgroup_uuid: 'g' },
      ],
      [group('g')],
    ),
    'n',
  ],
  ['nothing if all are taken', cardsOf([{ uuid: 'a', taken: true }]), undefined],
  ['nothing of a portgroup without ports alone', cardsOf([], [group('g')]), undefined],
])('a VIF gets %s', (_, cards, wanted) => expect(placed(cards)).toBe(wanted));

const two = cardsOf(
  [{ uuid: 'a' }, { uuid: 'b', taken: true }, { uuid: 'm', portgroup_uuid: 'g' }],
  [group('g'), group('h')],
);
test.each([
  [{ port_uuid: 'a' }, 'a'],
  [{ port_uuid: 'b' }, undefined],
  [{ port_uuid: 'm' }, undefined],
  [{ portgroup_uuid: 'g' }, 'g'],
  [{ portgroup_uuid: 'h' }, undefined],
])('of a wish for %j comes %s', (wish, wanted) => expect(placed(two, wish)).toBe(wanted));

test.each([
  [[], 'g'],
  [['blue'], 'blue'],
  [['red'], 'g'],
  [['green'], 'plain'],
])('in the networks %j a VIF gets %s', (networks, wanted) => {
  const cards = cardsOf(
    [
      { uuid: 'plain' },
      { uuid: 'blue', physical_network: 'blue', pxe_enabled: false },
      { uuid: 'm', portgroup_uuid: 'g', physical_network: 'red' },
    ],
    [group('g')],
  );
  expect(placed(cards, { networks })).toBe(wanted);
});

test('without any port or portgroup on record a VIF has no card, up to a bound', () => {
  expect(vifPlace(cardsOf([]), 255)).toEqual({ port_uuid: null, portgroup_uuid: null });
  expect(vifPlace(cardsOf([]), 256)).toBeUndefined();
});
