#!/usr/bin/env node
/** The `temper` command of an installation: a client of the API that also works on this host. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation } from '../cli';
import { runAtTerminal } from '../process/command/terminal';

// Most commands need none of these modules, and some load Temporal's SDK, which takes long.
const modules = {
  checks: () => require('../process/command/checks') as typeof import('../process/command/checks'),
  dnsmasq: () => require('../process/command/dnsmasq') as typeof import('../process/command/dnsmasq'),
  ironic: () => require('../process/command/ironic') as typeof import('../process/command/ironic'),
  ramdisks: () => require('../process/command/ramdisks') as typeof import('../process/command/ramdisks'),
  replay: () => require('../process/temporal/replay') as typeof import('../process/temporal/replay'),
  secrets: () => require('../process/command/secrets') as typeof import('../process/command/secrets'),
};

const { env } = process;
const installation: Installation = {
  checks: () => modules.checks().checksOf(env),
  replay: (of) => modules.replay().replayRun(of, env),
  newKeys: () => modules.secrets().newKeys(),
  secrets: () => modules.secrets().secretsOf(env),
  storeRamdisk: (given) => modules.ramdisks().makeBootImage(env, given),
  storeImage: (given) => modules.ramdisks().storeImage(env, given),
  importIronic: (given) => modules.ironic().ironicInto(env, given),
  prepareDhcp: (given) => modules.dnsmasq().makeDhcpFolder(env, given),
};

const manifest = join(__dirname, '../../package.json');
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };

void runAtTerminal({ version, installation });
