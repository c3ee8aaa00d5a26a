/**
 * A machine on the nodes' network that plays a node's ramdisk the whole time: it looks up the node's address, sends heartbeats and
 * inspections, and asks for the node's script of the network.
 */

/** How what it tried was answered, and what it got. */
export type Tried = {
  /** Tokens that lookups gave out. */
  readonly tokens: Set<string>;
  readonly beats: Set<number>;
  readonly inspections: Set<number>;
  readonly scripts: Set<string>;
};

export type Impostor = {
  /** Of all moments. */
  readonly tried: Tried;
  /** Rounds that came to their end. */
  rounds(): number;
  /** It has learnt the node's UUID, which is no secret. */
  knows(node: string): void;
  stop(): Promise<void>;
};

/** What it plays. */
export type Victim = {
  /** The API of ramdisks, without /v1. */
  readonly api: string;
  /** The boot service. */
  readonly boots: string;
  readonly mac: string;
  /** Address of the node's BMC, as a ramdisk reports it. */
  readonly bmc: string;
  readonly callback: string;
};

const headers = { 'content-type': 'application/json', 'x-openstack-ironic-api-version': '1.68' };
const guessed = 'x'.repeat(43);

const post = async (url: string, body: object): Promise<number> => {
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  await answer.arrayBuffer();
  return answer.status;
};

const looksUp = async ({ api, mac }: Victim, { tokens }: Tried): Promise<string | undefined> => {
  const found = await fetch(`${api}/v1/lookup?addresses=${mac}`, { headers });
  const text = await found.text();
  if (!found.ok) return undefined;
  const { node, config } = JSON.parse(text) as { node: { uuid: string }; config: { agent_token: string } };
  tokens.add(config.agent_token);
  return node.uuid;
};

const beats = async ({ api, callback }: Victim, { beats }: Tried, node: string): Promise<void> => {
  const body = { callback_url: callback, agent_token: guessed, agent_version: '13.0.0' };
  beats.add(await post(`${api}/v1/heartbeat/${node}`, body));
};

/** By the node's addresses, with a secret that it guesses, and by the node's UUID. */
const inspects = async ({ api, mac, bmc }: Victim, { inspections }: Tried, node: string | undefined): Promise<void> => {
  const inventory = { interfaces: [{ name: 'eth0', mac_address: mac }], bmc_address: bmc, disks: [] };
  const others = { ...inventory, interfaces: [{ name: 'eth0', mac_address: '52:54:00:66:66:66' }] };
  for (const query of ['', `?boot=${guessed}`, ...(node === undefined ? [] : [`?node_uuid=${node}`])])
    for (const said of [inventory, others])
      inspections.add(await post(`${api}/v1/continue_inspection${query}`, { inventory: said }));
};

const asksForScripts = async ({ boots, mac }: Victim, { scripts }: Tried): Promise<void> => {
  for (const file of ['boot.ipxe', 'boot.ipxe?arch=x86_64', 'grub.cfg'])
    scripts.add(await (await fetch(`${boots}/boot/network/${mac}/${file}`)).text());
};

export const startImpostor = (victim: Victim): Impostor => {
  const tried: Tried = { tokens: new Set(), beats: new Set(), inspections: new Set(), scripts: new Set() };
  let rounds = 0;
  let over = false;
  let known: string | undefined;
  const round = async (): Promise<void> => {
    const node = (await looksUp(victim, tried)) ?? known;
    if (node !== undefined) await beats(victim, tried, node);
    await inspects(victim, tried, node);
    await asksForScripts(victim, tried);
    rounds++;
  };
  const playing = (async () => {
    while (!over) {
      await round().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  })();
  return {
    tried,
    rounds: () => rounds,
    knows(node) {
      known = node;
    },
    async stop() {
      over = true;
      await playing;
    },
  };
};

/** What it must not have: tokens other than the mask, requests that were taken, and scripts that load something. */
export const successes = ({ tokens, beats, inspections, scripts }: Tried): (string | number)[] => [
  ...[...tokens].filter((token) => token !== '******'),
  ...[...beats, ...inspections].filter((status) => status < 400),
  ...[...scripts].filter((script) => /kernel|linux|token|initrd/.test(script)),
];
