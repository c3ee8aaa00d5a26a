/** A vendor's habit is one row: the driver heeds it and the emulated rack acts it out, without a second place. */
import { makerOf, profiles } from '../../emulator/rack/profiles';
import {
  busyKeys,
  emptyBodies,
  hasQuirk,
  jobLists,
  quirks,
  respelled,
  type SpellingRow,
  spellings,
  spellingsFor,
} from '../../src/bmc/quirks';
import { type RackBench, startRackBench } from './support/rack';

let racks: RackBench;
beforeAll(async () => {
  racks = await startRackBench({ bmcs: 24, profiles: ['openbmc', 'idrac9', 'supermicro-x12', 'ilo6'] });
});
afterAll(() => racks.close());

const image_url = 'https://images.example.org/ramdisk.iso';

/** What a test adds to a table is gone after it. */
const withRow = async (row: SpellingRow, work: () => Promise<void>) => {
  const table = spellings as SpellingRow[];
  table.push(row);
  try {
    await work();
  } finally {
    table.splice(table.indexOf(row), 1);
  }
};

describe('a made-up row', () => {
  test('is refused by the rack and heeded by the driver', async () => {
    const row = {
      of: 'insert media',
      property: 'Incantation',
      value: () => 'please',
      vendor: /openbmc/i,
      source: 'made up',
    } as const;
    await withRow(row, async () => {
      const { run, state, bmc } = racks.bench('openbmc');
      await run('insert_media', { image_url });
      expect(Object.values(state().media).some((slot) => slot.inserted)).toBe(true);
      const inserts = racks.rack
        .journal({ bmc: bmc.index })
        .filter(({ method, path }) => method === 'POST' && path.endsWith('InsertMedia'));
      expect(inserts.map(({ status }) => status)).toEqual([400, 204]);
    });
  });

  test('is refused by no other vendor', async () => {
    const row = { of: 'insert media', property: 'Incantation', value: () => 'please', vendor: /openbmc/i } as const;
    await withRow(row, async () => {
      const { run, bmc } = racks.bench('idrac9');
      await run('insert_media', { image_url });
      const posts = racks.rack.journal({ bmc: bmc.index }).filter(({ path }) => path.endsWith('InsertMedia'));
      expect(posts.map(({ status }) => status)).toEqual([204]);
    });
  });
});

describe('the rows', () => {
  test('each says where it is from', () => {
    for (const { source } of [...quirks, ...spellings, ...emptyBodies, ...busyKeys, ...jobLists])
      expect(source).toMatch(/\w{3}/);
  });

  test('each of a named vendor is acted out by a BMC of the rack', () => {
    const makers = Object.values(profiles).map(makerOf);
    const missing = quirks.filter(({ what }) => !makers.some((maker) => hasQuirk(what, maker)));
    expect(missing).toEqual([]);
    const vendors = [...spellings, ...emptyBodies, ...busyKeys, ...jobLists].flatMap(({ vendor }) => vendor ?? []);
    expect(
      vendors.filter((vendor) => !makers.some(({ names }) => names.some((name) => vendor.test(name ?? '')))),
    ).toEqual([]);
  });

  test('a refusal adds what it names, and leaves out what is refused where it was sent', () => {
    expect(respelled('insert media', { Image: image_url }, 'PropertyMissing TransferProtocolType', image_url)).toEqual({
      Image: image_url,
      TransferProtocolType: 'HTTPS',
    });
    expect(respelled('insert media', { Image: image_url }, 'the Password is missing')).toEqual({
      Image: image_url,
      UserName: 'none',
      Password: 'none',
    });
    expect(respelled('insert media', { Image: image_url, Inserted: true }, 'Inserted is read-only')).toEqual({
      Image: image_url,
    });
    expect(
      respelled('delete volume', { '@Redfish.OperationApplyTime': 'OnReset' }, 'OperationApplyTime is not'),
    ).toEqual({});
    expect(respelled('insert media', { Image: image_url }, 'something else')).toEqual({ Image: image_url });
  });

  test('known makers’ spellings are theirs alone', () => {
    const refusedBy = (name: string) =>
      spellingsFor('insert media', { names: [name] }).flatMap(({ property, value }) => (value ? [] : [property]));
    expect(refusedBy('Supermicro')).toEqual(['Inserted', 'WriteProtected']);
    expect(refusedBy('Dell Inc.')).toEqual([]);
  });
});

describe('what the rack acts out', () => {
  test('a Dell’s SerialNumber is not the number on its case', async () => {
    const { run, bmc } = racks.bench('idrac9');
    const outcome = await run('inspect');
    expect(JSON.stringify(outcome)).toContain(bmc.serial);
  });

  test('an HPE shows no network adapters before its host runs, and reading its firmware goes on without them', async () => {
    const { run, state } = racks.bench('ilo6');
    expect(state().power.shows).toBe('Off');
    const outcome = await run('read_firmware');
    expect(JSON.stringify(outcome)).not.toContain('nic:');
    await run('power_on');
    expect(JSON.stringify(await run('read_firmware'))).toContain('nic:');
  });
});
