/** What differs from a firmware baseline on a node: by the baseline that says most of its kind. */
import { isTemperError } from '../../src/model/errors';
import { type FirmwareBaseline, firmwareDrift } from '../../src/model/resources/firmware-baselines';

const url = 'https://images.example.org/x.bin';
const bios = (version: string) => ({ bios: { version, url } });
const kind = { vendor: 'Dell Inc.', model: 'R760' };
const seen = [
  { component: 'bios', current_version: '2.1' },
  { component: 'bmc', current_version: '7.0' },
];
const drift = (baselines: readonly FirmwareBaseline[], of = kind as { vendor: string | null; model: string | null }) =>
  firmwareDrift(baselines, of, seen, 'n');
const codeOf = (act: () => unknown): string => {
  try {
    act();
  } catch (thrown) {
    if (isTemperError(thrown)) return `${thrown.code} ${thrown.message}`;
  }
  return '';
};

test('components that differ, in the baseline’s order; those that do not are left alone', () => {
  const components = { bmc: { version: '7.1', url }, ...bios('2.1') };
  expect(drift([{ components }])).toEqual([{ component: 'bmc', current: '7.0', wanted: '7.1', url }]);
});

test('the baseline that says most of the kind counts, whatever the case', () => {
  const baselines = [
    { components: bios('1') },
    { vendor: 'dell inc.', components: bios('2') },
    { vendor: 'DELL INC.', model: 'r760', components: bios('3') },
    { vendor: 'hpe', model: 'r760', components: bios('4') },
  ];
  expect(drift(baselines)[0]!.wanted).toBe('3');
  expect(drift(baselines, { vendor: 'Dell Inc.', model: null })[0]!.wanted).toBe('2');
  expect(drift(baselines, { vendor: null, model: null })[0]!.wanted).toBe('1');
});

test.each([
  [
    'a node that has all of it',
    [{ components: bios('2.1') }],
    'FirmwareCurrent There is nothing to do on node n: its firmware is that of the baseline.',
  ],
  [
    'a node of another kind',
    [{ vendor: 'hpe', components: bios('2') }],
    'FirmwareCurrent There is nothing to do on node n: no baseline is for its vendor and model.',
  ],
  [
    'a component that was never seen',
    [{ components: { 'nic:1': { version: '1', url } } }],
    'InvalidInput temper.baseline.nic:1: was not seen on node n, which has bios, bmc; inspect it first',
  ],
  [
    'a name that objects inherit',
    [{ components: JSON.parse(`{"__proto__": {"version": "1", "url": "${url}"}}`) }],
    'InvalidInput temper.baseline.__proto__: was not seen',
  ],
])('%s is refused', (_, baselines, text) => {
  expect(codeOf(() => drift(baselines))).toContain(text);
});
