/** A fleet in one process: tens of thousands of BMCs with addresses of their own, a few kilobytes each. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Rack, startRack } from '../../emulator/rack';
import { createBmc } from '../../emulator/rack/bmc';
import { profileNames, profiles } from '../../emulator/rack/profiles';
import type { Timing } from '../../emulator/rack/types';
import { clientOf, quick } from './rack-client';

const stateDir = mkdtempSync(join(tmpdir(), 'rack-fleet-'));
const running: Rack[] = [];
afterAll(async () => {
  for (const rack of running) await rack.close();
  rmSync(stateDir, { recursive: true, force: true });
});

const forgetful = async (bmcs: number): Promise<Rack> => {
  const rack = await startRack({ stateDir, bmcs, forgetful: true, timing: quick });
  running.push(rack);
  return rack;
};

const macsOf = (index: number): readonly string[] =>
  createBmc(index, profiles[profileNames[0]!]!, quick as Timing).macs;

test('no two BMCs of a fleet of 200,000 share a MAC address', () => {
  const indexes = [0, 1, 255, 256, 65_535, 65_536, 65_537, 99_999, 131_071, 131_072, 199_999];
  const macs = indexes.flatMap(macsOf);
  expect(new Set(macs).size).toBe(2 * indexes.length);
  expect(macs.filter((mac) => !/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(mac))).toEqual([]);
});

test('the first 65,536 keep the MAC addresses that they always had', () => {
  expect(macsOf(258).map((mac) => mac.slice(-8))).toEqual(['00:01:02', '01:01:02']);
});

test('a forgetful rack executes writes, and keeps neither a journal nor a snapshot', async () => {
  const rack = await forgetful(2);
  const client = clientOf(rack.bmcs[1]!);
  expect(await client.reset('On')).toMatchObject({ status: 204 });
  await client.powerReaches('On');
  expect(rack.state(1).power.shows).toBe('On');
  expect(rack.state(0).power.shows).toBe('Off');
  expect(rack.journal()).toEqual([]);
  expect(['journal.jsonl', 'snapshot.json'].filter((file) => existsSync(join(stateDir, file)))).toEqual([]);
});

test('the last BMC of a fleet of 70,000 answers in its own name', async () => {
  const rack = await forgetful(70_000);
  const last = rack.bmcs.at(-1)!;
  const client = clientOf(last);
  expect((await client.get(client.system)).body).toMatchObject({ UUID: last.uuid });
  const first = clientOf({ ...rack.bmcs[0]!, password: last.password });
  expect((await first.get(first.system)).status).toBe(401);
});
