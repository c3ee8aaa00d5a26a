/** A machine on the nodes' network that plays a node's ramdisk the whole time: it looks up the node's address and sends heartbeats. */

export type Impostor = {
  /** Tokens that lookups gave out. */
  readonly tokens: Set<string>;
  /** How heartbeats were answered. */
  readonly beats: Set<number>;
  rounds(): number;
  stop(): Promise<void>;
};

const headers = { 'content-type': 'application/json', 'x-openstack-ironic-api-version': '1.68' };

/** @param api of ramdisks, without /v1 */
export const startImpostor = (api: string, mac: string, callback: string): Impostor => {
  const tokens = new Set<string>();
  const beats = new Set<number>();
  let rounds = 0;
  let over = false;
  const beat = async (node: string): Promise<void> => {
    const body = JSON.stringify({ callback_url: callback, agent_token: 'x'.repeat(43), agent_version: '13.0.0' });
    beats.add((await fetch(`${api}/v1/heartbeat/${node}`, { method: 'POST', headers, body })).status);
  };
  const round = async (): Promise<void> => {
    const found = await fetch(`${api}/v1/lookup?addresses=${mac}`, { headers });
    rounds++;
    if (!found.ok) return;
    const { node, config } = (await found.json()) as { node: { uuid: string }; config: { agent_token: string } };
    tokens.add(config.agent_token);
    await beat(node.uuid);
  };
  const playing = (async () => {
    while (!over) {
      await round().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  })();
  return {
    tokens,
    beats,
    rounds: () => rounds,
    async stop() {
      over = true;
      await playing;
    },
  };
};
