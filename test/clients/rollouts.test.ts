/** The rollouts of docs/rollouts.md, typed into one shell of a seeded system whose control workers ask metrics: every command shows what the page shows. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type System, startSystem } from '../e2e/support/system';
import { testTyped, typeAll } from '../e2e/support/typed';
import { blocksOf, consoleOf, partOf, readDocument } from '../support/documents';

jest.setTimeout(600_000);

const parts = ['A rollout from plan to end', 'A gate that fails'].map((heading) =>
  partOf(readDocument('docs/rollouts.md'), heading),
);
const commands = parts.flatMap(consoleOf);
/** Each begins with its name in a comment. */
const files = Object.fromEntries(
  parts.flatMap((part) => blocksOf(part, 'yaml')).map((text) => [/^# (\S+)\n/.exec(text)![1]!, text]),
);

let metrics: Server;
let system: System;
let shows: readonly string[];
const asked: string[] = [];

beforeAll(async () => {
  metrics = createServer((request, response) => {
    asked.push(new URL(request.url!, 'http://metrics').searchParams.get('query') ?? '');
    response.end(JSON.stringify({ status: 'success', data: { resultType: 'scalar', result: [1, '3'] } }));
  });
  metrics.listen(0, '127.0.0.1');
  await once(metrics, 'listening');
  const url = `http://127.0.0.1:${(metrics.address() as AddressInfo).port}`;
  system = await startSystem(5, { TEMPER_RACK_SPEED: '5', TEMPER_GATE_METRICS_URL: url }, { seed: true });
  shows = await typeAll(system, commands, files);
});
afterAll(async () => {
  await system?.stop();
  metrics?.closeAllConnections();
  metrics?.close();
});

testTyped(commands, 25, () => shows);

test('the control worker asked the metrics what the plan names', () => {
  expect([...new Set(asked)]).toEqual(['sum(ALERTS{alertstate="firing"})']);
});
