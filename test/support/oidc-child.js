/** The program of a real OIDC server (oidc-provider) on loopback, for `oidc-provider.ts`, which sends it orders. */
const { once } = require('node:events');
const { createServer } = require('node:http');
const { exportJWK, generateKeyPair } = require('jose');
const { Provider } = require('oidc-provider');

const audience = 'https://baremetal.example.org';

const keyOf = async (kid, alg) => {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg, use: 'sig' };
};

const secondsOf = {
  AccessToken: 3_600,
  ClientCredentials: 3_600,
  AuthorizationCode: 60,
  DeviceCode: 600,
  Grant: 3_600,
  IdToken: 3_600,
  Interaction: 600,
  RefreshToken: 3_600,
  Session: 3_600,
};

const resourceServer = (_context, resource) => ({
  scope: 'temper',
  audience: resource,
  accessTokenFormat: 'jwt',
  jwt: { sign: { alg: 'RS256' } },
});

/** @param {{clients: object[], groups: Record<string, string[]>}} given groups by account or client */
const configurationOf = ({ clients, groups }, keys) => ({
  clients,
  jwks: { keys },
  ttl: secondsOf,
  pkce: { required: () => true },
  scopes: ['openid', 'offline_access', 'temper'],
  cookies: { keys: ['a key of this test server'] },
  findAccount: (_context, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  extraTokenClaims: (_context, { accountId, clientId }) => ({ groups: groups[accountId ?? clientId] ?? [] }),
  issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
  features: {
    revocation: { enabled: true },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
    devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_context, _client, one) => one ?? audience,
      useGrantedResource: () => true,
      getResourceServerInfo: resourceServer,
    },
  },
});

const run = async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const [given] = await once(process, 'message');
  let keys = [await keyOf('first', 'RS256')];
  let answer;
  const serve = () => {
    answer = new Provider(issuer, configurationOf(given, keys)).callback();
  };
  serve();
  server.on('request', (request, response) => answer(request, response));
  process.on('message', async ({ rotate, keep, client }) => {
    if (client) given.clients.push(client);
    else keys = [await keyOf(rotate, 'RS256'), ...(keep ? keys : [])];
    serve();
    process.send({ done: true });
  });
  process.on('disconnect', () => process.exit());
  process.send({ issuer });
};

void run();
