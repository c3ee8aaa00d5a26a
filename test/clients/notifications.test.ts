/**
 * Ironic's notifications, to a real RabbitMQ, read by oslo.messaging. One walk goes to a real Ironic and to Temper: what each sends is
 * compared. TEMPER_TEST_RECORD=true writes what Ironic sent into notifications-ironic.json.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../src/inventory/database';
import { type Entry, endAll, start } from '../bin/support/entries';
import { environmentsOf, secondApi } from '../e2e/support/persona-api';
import { type System, startSystem } from '../e2e/support/system';
import { suiteOf } from '../support/found';
import {
  type Heard,
  type Listener,
  type Rabbit,
  rabbitMissing,
  startListener,
  startNotifyingIronic,
  startRabbit,
  walk,
} from '../support/rabbitmq';
import { differences, type Recorded, recordedOf } from './notifications-compared';

const fixture = join(__dirname, 'notifications-ironic.json');
const recording = process.env.TEMPER_TEST_RECORD === 'true';

// The fake deployment of Temper switches the node on, that of Ironic does not.
const isAsked = ({ type, data }: Recorded): boolean =>
  !(type.includes('power_set') && data.provision_state === 'deploying');

const isLast = (heard: readonly Heard[]): boolean =>
  heard.some(({ event_type }) => event_type === 'baremetal.chassis.delete.end');

/** Differences between the two walks, and their reasons. */
const explained: readonly (readonly [RegExp, string])[] = [
  [/ power_state: /, 'of the moment of sending, and the fake deployment of Temper switches the node on'],
  [/ instance_(info|uuid): .* \| (\{\}|null)$/, 'of the moment of sending: the tear-down was over'],
  [/ instance_info: .*"image_type":"whole-disk"/, 'Ironic notes the type of the image there'],
  [/ driver_internal_info: /, 'each has keys of its own there'],
  [/ storage_interface: "noop" \| "fake"$/, 'the default of fake-hardware differs'],
  [/ properties: .*"vendor":"fake"/, 'the fake driver of Temper finds a vendor'],
  [/ updated_at: /, 'a start comes after the change'],
  [
    /^baremetal.(node|port|portgroup|allocation|deploytemplate)\.create\.(start|end) (mode|standalone_ports_supported|candidate_nodes|traits): /,
    'defaults are values here',
  ],
  [/^baremetal.deploytemplate\.\w+\.\w+ steps: /, 'Ironic sends the rows of its database'],
  [/^baremetal.allocation\.update\.\w+ node_uuid: null /, 'Ironic does not name the node'],
  [
    /^order of port .*create.start","baremetal.port.create.end/,
    'Ironic 39 cannot send port.create.start: a field lacks a value',
  ],
  [/^order of allocation .*allocation.delete.end"\]$/, 'Ironic does not tell that a tear-down ends an allocation'],
];

suiteOf("Ironic's notifications", rabbitMissing)("Ironic's notifications", () => {
  let rabbit: Rabbit;
  let listener: Listener;
  beforeAll(async () => {
    rabbit = await startRabbit();
  });
  beforeEach(async () => {
    listener = await startListener(rabbit.url);
  });
  afterEach(async () => {
    await listener?.close();
  });
  afterAll(() => rabbit?.close());

  test('what is recorded is what Ironic sends', async () => {
    const ironic = await startNotifyingIronic(rabbit.url);
    try {
      await walk(ironic.url, 0);
      await listener.until(isLast);
    } finally {
      await ironic.close();
    }
    const sent = recordedOf(listener.heard);
    if (recording) writeFileSync(fixture, `${JSON.stringify(sent, null, 1)}\n`);
    expect(sent).toEqual(JSON.parse(readFileSync(fixture, 'utf8')));
  });

  describe('of Temper', () => {
    let system: System;
    let url: string;
    let env: Readonly<Record<string, string>>;
    let sender: Entry;
    beforeAll(async () => {
      system = await startSystem(0);
      const { TEMPER_DATABASE_URL: ownerUrl } = environmentsOf(system).migrate as { TEMPER_DATABASE_URL: string };
      const owner = connect(ownerUrl, { max: 1 });
      await owner.unsafe(`alter role temper_notifications login password 'n'`);
      await owner.end();
      const database = Object.assign(new URL(ownerUrl), { username: 'temper_notifications', password: 'n' });
      env = { TEMPER_DATABASE_URL: database.href, TEMPER_NOTIFICATIONS_URL: rabbit.url, TEMPER_LOG_LEVEL: 'info' };
      url = await secondApi(system, { TEMPER_AUTH_STRATEGY: 'noauth' });
      await begin();
    });
    afterAll(async () => {
      await endAll();
      await system?.stop();
    });
    const begin = async (): Promise<void> => {
      sender = start('notifications', env);
      await sender.says('sending notifications');
    };

    test('the same walk gives the same notifications, but for the differences of docs/notifications.md', async () => {
      await walk(url, 1.5);
      await listener.until(isLast);
      const ironic: Recorded[] = JSON.parse(readFileSync(fixture, 'utf8'));
      const unexplained = differences(ironic, recordedOf(listener.heard).filter(isAsked)).filter(
        (line) => !explained.some(([form]) => form.test(line)),
      );
      expect(unexplained).toEqual([]);
    });
  });
});
