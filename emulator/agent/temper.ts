/** The ramdisk's calls to the API: lookup, heartbeat, and what an inspection found. */
import { Agent, request } from 'undici';

export type Answer = { readonly status: number; readonly body: unknown };

export type Temper = {
  lookup(macs: readonly string[], nodeUuid?: string): Promise<Answer>;
  heartbeat(nodeUuid: string, body: Record<string, unknown>): Promise<Answer>;
  /** To the given URL; to the API's own path when absent. */
  continueInspection(data: Record<string, unknown>, url?: string): Promise<Answer>;
  close(): Promise<void>;
};

// openstack/ironic-python-agent:ironic_python_agent/ironic_api_client.py and inspector.py: what each call asks for at most.
const versions = { lookup: '1.62', heartbeat: '1.68' } as const;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Shares few sockets among all agents. `ask` throws what the network throws. */
export const createTemper = (apiUrl: string): Temper => {
  const base = apiUrl.replace(/\/+$/, '');
  const dispatcher = new Agent({ connections: 32, connect: { rejectUnauthorized: false } });
  const ask = async (method: 'GET' | 'POST', path: string, version?: string, body?: unknown): Promise<Answer> => {
    const answer = await request(path.startsWith('/') ? `${base}${path}` : path, {
      dispatcher,
      method,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(version && { 'x-openstack-ironic-api-version': version }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return { status: answer.statusCode, body: parsed(await answer.body.text()) };
  };
  return {
    lookup(macs, nodeUuid) {
      const query = new URLSearchParams({ addresses: macs.join(','), ...(nodeUuid && { node_uuid: nodeUuid }) });
      return ask('GET', `/v1/lookup?${query}`, versions.lookup);
    },
    heartbeat: (nodeUuid, body) => ask('POST', `/v1/heartbeat/${nodeUuid}`, versions.heartbeat, body),
    continueInspection: (data, url = '/v1/continue_inspection') => ask('POST', url, undefined, data),
    close: () => dispatcher.destroy(),
  };
};
