/** The founding guides on a running system: their commands typed into the real clients by every persona, forbidden ones too. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../demo/nodes';
import { endAll } from '../bin/support/entries';
import { runClient } from '../e2e/support/cli';
import { walk } from '../e2e/support/guide';
import { accessLines, commandLines, publicityLines, runLines } from '../e2e/support/guide-runbooks';
import {
  allocationLines,
  closedLines,
  metalsmithFile,
  nodeLines,
  openedFile,
  portLines,
} from '../e2e/support/guide-tenancy';
import { type PersonaApi, personaApi } from '../e2e/support/persona-api';
import { type System, startSystem } from '../e2e/support/system';
import { typePart } from '../e2e/support/transcript';
import { clientCommand } from '../support/clients';
import { blocksOf, partOf, readDocument } from '../support/documents';

const withinMs = 120_000;
let system: System;
let temper: PersonaApi;

/** What an operator sends without waiting for a client to poll. */
const must = async (method: string, path: string, body?: unknown) => {
  const answer = await temper.ask('system-admin', method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.says}`);
  return answer.body;
};
const order = (node: string, target: string) => must('PUT', `/v1/nodes/${node}/states/provision`, { target });
const rests = (node: string, state: string) =>
  until(`${node} to be ${state}`, withinMs, async () => {
    const seen = await must('GET', `/v1/nodes/${node}`);
    if (seen.last_error) throw new Error(`${node}: ${seen.last_error}`);
    return (seen.provision_state === state && seen.reservation === null) || undefined;
  });

const enrolled = async (name: string, resource_class: string): Promise<void> => {
  const body = { name, driver: 'fake-hardware', resource_class, automated_clean: false };
  await must('POST', '/v1/nodes', body);
  await order(name, 'manage');
  await rests(name, 'manageable');
};

beforeAll(async () => {
  system = await startSystem(0);
  temper = await personaApi(system, { set: 'temper' });
  for (const name of ['node-7', 'node-10']) await enrolled(name, 'gold');
});
afterAll(async () => {
  await endAll();
  await system?.stop();
});

describe('the document for owners and lessees, as it is typed', () => {
  const document = 'docs/tenants.md';
  const opening = 'Opening a closed API';

  // What the guides list afterwards is theirs alone.
  afterAll(async () => {
    for (const name of ['web-1', 'large-1'])
      await temper.ask('system-admin', 'PATCH', `/v1/nodes/${name}`, [{ op: 'remove', path: '/owner' }]);
    for (const name of ['CUSTOM_DISK_FIRST', 'CUSTOM_OURS'])
      await temper.ask('system-admin', 'DELETE', `/v1/runbooks/${name}`);
  });

  test('a node is given and leased', async () => {
    await enrolled('web-1', 'small');
    await typePart(temper, document, 'Setting owner and lessee');
  });

  test('a closed API is opened by its policy', async () => {
    const file = blocksOf(partOf(readDocument(document), opening), 'yaml').join('');
    await typePart(await personaApi(system, { set: 'closed', file }), document, opening, { 'policy.yaml': file });
  });

  test('runbooks are written, approved, run and refused; a lease ends; and a refusal is explained', async () => {
    await order('web-1', 'adopt');
    await rests('web-1', 'active');
    for (const heading of ['Runbooks', 'When a lease ends', 'Troubleshooting'])
      await typePart(temper, document, heading);
  });

  test('an owner deploys with the shipped policy for metalsmith', async () => {
    await enrolled('large-1', 'large');
    await must('PATCH', '/v1/nodes/large-1', [{ op: 'add', path: '/owner', value: 'project-owner' }]);
    await order('large-1', 'provide');
    await rests('large-1', 'available');
    const file = readFileSync(join(__dirname, '../../deploy/policies/metalsmith.yaml'), 'utf8');
    await typePart(await personaApi(system, { set: 'closed', file }), document, 'Deploying with metalsmith');
  });
});

describe('the multi-tenancy guide', () => {
  let opened: PersonaApi;

  test('owners and lessees are set, and have access to nothing by default', async () => {
    await walk(await personaApi(system, { set: 'closed' }), closedLines);
  });

  test('an opened API shows owners and lessees their nodes, and lets them do what was opened', async () => {
    opened = await personaApi(system, { set: 'closed', file: openedFile });
    await walk(opened, nodeLines);
    await Promise.all(['node-7', 'node-10'].map((node) => rests(node, 'available')));
  });

  test('ports go with their nodes', async () => {
    const address = '52:54:00:00:00:07';
    const { uuid } = await must('GET', '/v1/nodes/node-7');
    await must('POST', '/v1/ports', { address, node_uuid: uuid });
    await walk(opened, portLines(address, uuid));
  });

  test('a restricted allocation is its project’s, and takes that project’s nodes only', () =>
    walk(opened, allocationLines));

  test('an owner with exactly the overrides for it deploys by metalsmith, and no other caller does', async () => {
    const api = await personaApi(system, { set: 'closed', file: metalsmithFile });
    const metalsmith = (who: string, words: string) =>
      runClient(api.system, clientCommand('metalsmith'), ['--quiet', '--os-cloud', who, ...words.split(' ')]);
    const image = `--image http://images.example.org/debian.qcow2 --image-checksum ${'a'.repeat(64)} --root-size 10`;
    const deploy = `deploy ${image} --resource-class gold --hostname web-1 --wait 120`;
    expect(await metalsmith('stranger-member', deploy)).toMatchObject({ status: 1 });
    await until(
      'no allocation',
      withinMs,
      async () => (await must('GET', '/v1/allocations')).allocations.length === 0 || undefined,
    );
    expect(await metalsmith('owner-member', deploy)).toEqual({ status: 0, out: '', err: '' });
    expect(await must('GET', '/v1/nodes/node-7')).toMatchObject({
      provision_state: 'active',
      instance_info: { image_source: 'http://images.example.org/debian.qcow2', root_gb: 10 },
    });
    await api.cli.does('owner-member', 'node', 'vif', 'attach', 'node-7', 'net-1');
    expect(await api.cli.json('owner-member', 'node', 'vif', 'list', 'node-7')).toEqual([{ id: 'net-1' }]);
    await api.cli.does('owner-member', 'node', 'vif', 'detach', 'node-7', 'net-1');
    expect(await metalsmith('owner-member', 'undeploy web-1 --wait 120')).toMatchObject({ status: 0 });
    await rests('node-7', 'available');
  });
});

describe('the runbook document', () => {
  test('runbooks are made, published, given away and taken back as it lists', () => walk(temper, commandLines));

  test('nothing but the request for it changes whether a runbook is public', () => walk(temper, publicityLines));

  test('owners’ and lessees’ members run approved runbooks, alone and without steps of their own', async () => {
    await Promise.all([order('node-7', 'manage'), order('node-10', 'active')]);
    await Promise.all([rests('node-7', 'manageable'), rests('node-10', 'active')]);
    for (const node of ['node-7', 'node-10']) await must('PUT', `/v1/nodes/${node}/traits/CUSTOM_SHARED`);
    await must('PUT', '/v1/nodes/node-7/traits/CUSTOM_OWN');
    await walk(temper, runLines);
    await Promise.all([rests('node-7', 'manageable'), rests('node-10', 'active')]);
  });

  test('system and project personas do what its table of access says, and not more', () => walk(temper, accessLines));
});
