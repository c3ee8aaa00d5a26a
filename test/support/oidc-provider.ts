/** A real OIDC server (oidc-provider, certified) in a process of its own, with clients, groups and keys of a test. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export const audience = 'https://baremetal.example.org';

export type OidcServer = {
  readonly issuer: string;
  /** By client credentials. @param resource other than the API */
  tokenOf(client: string, resource?: string): Promise<string>;
  /** Signs with a new key. @param keep whether the old keys are published any more */
  rotate(kid: string, keep: boolean): Promise<void>;
  /** @param client in the form of the server */
  add(client: object): Promise<void>;
  close(): Promise<void>;
};

export const clientSecret = 'a-secret-of-forty-characters-for-a-client';

const serviceAccount = (client_id: string) => ({
  client_id,
  client_secret: clientSecret,
  grant_types: ['client_credentials'],
  response_types: [],
  redirect_uris: [],
  scope: 'temper',
});

const answerOf = async (child: ChildProcess): Promise<Record<string, string>> => {
  const [answer] = await once(child, 'message');
  return answer as Record<string, string>;
};

/** @param groups of each service account and account @param clients others, in the form of the server */
export const startOidcServer = async (
  groups: Readonly<Record<string, readonly string[]>>,
  clients: readonly object[] = [],
): Promise<OidcServer> => {
  const child = fork(join(__dirname, 'oidc-child.js'), { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], execArgv: [] });
  child.send({ groups, clients: [...Object.keys(groups).map(serviceAccount), ...clients] });
  const { issuer } = await answerOf(child);
  const order = async (given: object): Promise<void> => {
    child.send(given);
    await answerOf(child);
  };
  return {
    issuer: issuer!,
    async tokenOf(client, resource = audience) {
      const reply = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${client}:${clientSecret}`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource, scope: 'temper' }),
      });
      const body = (await reply.json()) as { access_token?: string };
      if (!body.access_token) throw new Error(JSON.stringify(body));
      return body.access_token;
    },
    rotate: (kid, keep) => order({ rotate: kid, keep }),
    add: (client) => order({ client }),
    async close() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
};
