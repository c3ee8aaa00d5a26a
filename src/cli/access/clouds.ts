/** API address and credentials, read as OpenStack clients do: TEMPER_*, OS_*, clouds.yaml, secure.yaml. */
import { asDocument } from '../../model/document';
import { withoutVersion } from '../../model/texts';
import type { CliDeps, Trust } from '../deps';
import { stop } from '../faults';
import { cloudOfFiles } from './cloud-files';
import type { OidcClient } from './oidc';
import { type SavedLogin, savedLogin } from './saved-login';

export type Login = { readonly authUrl: string; readonly identity: unknown; readonly scope?: unknown };

type Credentials =
  | { readonly is: 'token'; readonly token: string }
  | { readonly is: 'basic'; readonly username: string; readonly password: string }
  | { readonly is: 'keystone'; readonly login: Login }
  | { readonly is: 'service_account'; readonly client: OidcClient }
  | { readonly is: 'saved'; readonly login: SavedLogin }
  | { readonly is: 'none' };

export type Target = {
  /** Base URL; null if Keystone's catalogue must supply it. */
  readonly url: string | null;
  readonly credentials: Credentials;
  readonly trust: Trust;
  readonly region: string | null;
  readonly interface: string;
};

type Auth = Readonly<Record<string, unknown>>;
type Cloud = {
  readonly auth: Auth;
  readonly auth_type?: string;
  readonly region_name?: string;
  readonly interface?: string;
  readonly cacert?: string;
  readonly verify?: unknown;
  readonly baremetal_endpoint_override?: string;
};

const textOrNumber = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;

const cloudNamed = (deps: CliDeps, name: string): Cloud => {
  const cloud = cloudOfFiles(deps, name);
  return { ...cloud, auth: asDocument(cloud.auth) } as Cloud;
};

const authKeys =
  'auth_url username user_id password user_domain_id user_domain_name project_id project_name project_domain_id project_domain_name system_scope application_credential_id application_credential_name application_credential_secret token endpoint'.split(
    ' ',
  );

const cloudOfEnvironment = ({ env }: CliDeps): Cloud | undefined => {
  const entries = authKeys.map((key) => [key, env[`OS_${key.toUpperCase()}`]] as const).filter(([, value]) => value);
  if (entries.length === 0 && !env.OS_AUTH_TYPE) return undefined;
  return {
    auth: Object.fromEntries(entries),
    auth_type: env.OS_AUTH_TYPE,
    region_name: env.OS_REGION_NAME,
    interface: env.OS_INTERFACE,
    cacert: env.OS_CACERT,
    verify: env.OS_INSECURE === 'true' || env.OS_INSECURE === '1' ? false : undefined,
  };
};

const domain = (auth: Auth, of: string): { domain?: unknown } => {
  const [id, name] = [textOrNumber(auth[`${of}_domain_id`]), textOrNumber(auth[`${of}_domain_name`])];
  return id ? { domain: { id } } : name ? { domain: { name } } : { domain: { id: 'default' } };
};

const needed = (auth: Auth, key: string): string =>
  textOrNumber(auth[key]) ??
  stop('usage', `The credentials lack ${key} (OS_${key.toUpperCase()}, or auth.${key} of the cloud).`);

const userOf = (auth: Auth) => {
  const id = textOrNumber(auth.user_id);
  return id ? { id } : { name: needed(auth, 'username'), ...domain(auth, 'user') };
};

const authScope = (auth: Auth): unknown => {
  if (textOrNumber(auth.system_scope)) return { system: { all: true } };
  const id = textOrNumber(auth.project_id);
  if (id) return { project: { id } };
  const name = textOrNumber(auth.project_name);
  return name ? { project: { name, ...domain(auth, 'project') } } : undefined;
};

const byPassword = (auth: Auth): Credentials => ({
  is: 'keystone',
  login: {
    authUrl: needed(auth, 'auth_url'),
    identity: { methods: ['password'], password: { user: { ...userOf(auth), password: needed(auth, 'password') } } },
    scope: authScope(auth),
  },
});

const byApplicationCredential = (auth: Auth): Credentials => {
  const id = textOrNumber(auth.application_credential_id);
  const named = () => ({ name: needed(auth, 'application_credential_name'), user: userOf(auth) });
  const application_credential = {
    ...(id ? { id } : named()),
    secret: needed(auth, 'application_credential_secret'),
  };
  const identity = { methods: ['application_credential'], application_credential };
  return { is: 'keystone', login: { authUrl: needed(auth, 'auth_url'), identity } };
};

const byToken = (auth: Auth): Credentials => {
  const token = needed(auth, 'token');
  if (!textOrNumber(auth.auth_url)) return { is: 'token', token };
  const identity = { methods: ['token'], token: { id: token } };
  return { is: 'keystone', login: { authUrl: needed(auth, 'auth_url'), identity, scope: authScope(auth) } };
};

const authTypes: Readonly<Record<string, (auth: Auth) => Credentials>> = {
  password: byPassword,
  v3password: byPassword,
  v3applicationcredential: byApplicationCredential,
  token: byToken,
  v3token: byToken,
  admin_token: (auth) => ({ is: 'token', token: needed(auth, 'token') }),
  http_basic: (auth) => ({ is: 'basic', username: needed(auth, 'username'), password: needed(auth, 'password') }),
  none: () => ({ is: 'none' }),
};

const guessedType = (auth: Auth): string =>
  auth.application_credential_secret ? 'v3applicationcredential' : auth.token ? 'token' : 'password';

const credentialsOf = ({ auth, auth_type }: Cloud): Credentials => {
  const type = auth_type ?? guessedType(auth);
  const make = Object.hasOwn(authTypes, type) ? authTypes[type] : undefined;
  return make
    ? make(auth)
    : stop('usage', `auth_type ${type} is not known; known are ${Object.keys(authTypes).join(', ')}.`);
};

const ownCredentials = ({ env }: CliDeps): Credentials | undefined => {
  if (env.TEMPER_TOKEN) return { is: 'token', token: env.TEMPER_TOKEN };
  const { TEMPER_USERNAME: username, TEMPER_PASSWORD: password } = env;
  if (username && password !== undefined) return { is: 'basic', username, password };
  const {
    TEMPER_OIDC_ISSUER: issuer,
    TEMPER_OIDC_CLIENT_ID: client_id,
    TEMPER_OIDC_CLIENT_SECRET: client_secret,
  } = env;
  if (!issuer || !client_id || !client_secret) return undefined;
  const [scope, resource] = [env.TEMPER_OIDC_SCOPE || undefined, env.TEMPER_OIDC_RESOURCE || undefined];
  return { is: 'service_account', client: { issuer, client_id, client_secret, scope, resource } };
};

/** Only for the API that it was made for. */
const savedFor = (deps: CliDeps): { readonly url: string; readonly credentials: Credentials } | undefined => {
  const login = savedLogin(deps);
  const { TEMPER_URL: wanted } = deps.env;
  if (!login || (wanted !== undefined && withoutVersion(wanted, 'v1') !== login.url)) return undefined;
  return { url: login.url, credentials: { is: 'saved', login } };
};

const trustOf = (cloud: Cloud | undefined, { env }: CliDeps): Trust => ({
  caFile: cloud?.cacert ?? env.OS_CACERT,
  insecure: cloud?.verify === false,
});

/** For a login that no cloud has a part in. */
export const trustIn = (deps: CliDeps): Trust => trustOf(undefined, deps);

/** Order: TEMPER_URL and TEMPER_TOKEN, a cloud by name, OS_*, the saved login. Throws CliFault (usage) if something is missing. */
export const apiTarget = (deps: CliDeps, cloudName: string | undefined): Target => {
  const own = ownCredentials(deps);
  const name = cloudName ?? (own ? undefined : deps.env.OS_CLOUD);
  const cloud = name ? cloudNamed(deps, name) : own ? undefined : cloudOfEnvironment(deps);
  const saved = own || cloud ? undefined : savedFor(deps);
  const url =
    saved?.url ??
    deps.env.TEMPER_URL ??
    cloud?.baremetal_endpoint_override ??
    textOrNumber(cloud?.auth.endpoint) ??
    null;
  const credentials = cloud ? credentialsOf(cloud) : (own ?? saved?.credentials ?? { is: 'none' });
  if (url === null && credentials.is !== 'keystone')
    return stop(
      'usage',
      'Nothing says where the API is: set TEMPER_URL (and TEMPER_TOKEN), or OS_CLOUD, or OS_AUTH_URL and its companions; or run "temper login".',
    );
  return {
    url: url === null ? null : withoutVersion(url, 'v1'),
    credentials,
    trust: trustOf(cloud, deps),
    region: cloud?.region_name ?? null,
    interface: (cloud?.interface ?? 'public').replace(/URL$/, ''),
  };
};
