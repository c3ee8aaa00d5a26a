/**
 * Terraform's provider for Ironic: its four resources, applied and destroyed by the requests it sends; and by Terraform
 * itself where the provider's program is there.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { endAll } from '../bin/support/entries';
import { secondApi } from '../e2e/support/persona-api';
import { type System, startSystem } from '../e2e/support/system';
import { suiteOf } from '../support/found';
import { goMissing, walkInGo } from '../support/go';
import { tell } from './go-machines';

const whenThere = suiteOf("Terraform's requests", goMissing);

/** The provider's program, for users who have it: its module is in no public proxy of Go modules (docs/clients.md). */
const plugin = process.env.TEMPER_TERRAFORM_PROVIDER_IRONIC;
const withPlugin = plugin ? test : test.skip;

const plan = (url: string) => `
terraform {
  required_providers { ironic = { source = "openshift-metal3/ironic" } }
}
provider "ironic" {
  url          = "${url}"
  microversion = "1.72"
}
resource "ironic_node_v1" "node" {
  name           = "tf-node"
  driver         = "fake-hardware"
  resource_class = "terraform"
  manage         = true
  inspect        = true
  available      = true
  properties     = { cpus = "4" }
}
resource "ironic_port_v1" "port" {
  node_uuid   = ironic_node_v1.node.id
  address     = "52:54:00:0f:0f:01"
  pxe_enabled = true
}
resource "ironic_allocation_v1" "allocation" {
  name            = "tf-allocation"
  resource_class  = "terraform"
  candidate_nodes = [ironic_node_v1.node.id]
}
resource "ironic_deployment" "deployment" {
  node_uuid     = ironic_allocation_v1.allocation.node_uuid
  instance_info = { image_source = "http://images.example.org/debian-13.raw", image_checksum = "${'0'.repeat(64)}" }
  user_data     = "#cloud-config"
}
`;

whenThere('Terraform', () => {
  let system: System;
  let url: string;

  beforeAll(async () => {
    system = await startSystem(0, { TEMPER_AUTOMATED_CLEAN: 'false' });
    url = `${await secondApi(system, { TEMPER_AUTH_STRATEGY: 'noauth' })}/v1`;
  });
  afterAll(async () => {
    await endAll();
    await system?.stop();
  });

  test.each(['1.52', '1.72'])(
    'a plan of node, port, allocation and deployment is applied and destroyed at %s',
    async (version) => {
      const mac = `52:54:00:0e:0e:${version.slice(-2)}`;
      const machine = { name: `tf-${version}`, driver: 'fake-hardware', driver_info: { note: 'rack 12' }, mac };
      const resource_class = `class-${version}`;
      const walked = await walkInGo(
        'terraform',
        { auth: 'noauth', endpoint: url },
        { ...machine, resource_class },
        version,
      );
      tell(`Terraform's requests at ${version}`, walked);
      expect(walked.failed).toEqual([]);
      expect(walked.steps).toContain('destroy ironic_node_v1');
    },
  );

  const terraform = (folder: string, ...args: string[]): Promise<{ status: number | null; said: string }> =>
    new Promise((done, failed) => {
      const env = { ...process.env, TF_CLI_CONFIG_FILE: join(folder, 'terraform.rc'), CHECKPOINT_DISABLE: '1' };
      const child = spawn('terraform', args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => {
          said += chunk;
        });
      child.once('error', failed);
      child.once('close', (status) => done({ status, said }));
    });

  withPlugin('Terraform applies the plan, finds nothing to change afterwards, and destroys it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'temper-terraform-'));
    // The program is named here, so that no registry is asked for it.
    const overrides = `provider_installation {\n  dev_overrides { "openshift-metal3/ironic" = "${dirname(plugin!)}" }\n}\n`;
    writeFileSync(join(folder, 'terraform.rc'), overrides);
    writeFileSync(join(folder, 'main.tf'), plan(url));
    try {
      for (const words of [
        ['apply', '-auto-approve'],
        ['plan', '-detailed-exitcode'],
        ['destroy', '-auto-approve'],
      ])
        expect(await terraform(folder, ...words, '-no-color')).toMatchObject({ status: 0 });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
